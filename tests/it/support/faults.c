/*
 * Counts the calls by which a process leaves traces, and has one of them fail. tests/it/tmux/faults.rs loads it with LD_PRELOAD.
 *
 *   FAULT_HOME  the directory whose files count
 *   FAULT_LOG   a file that gets a line for each step: its kind, and "!" behind it where the fault came
 *   FAULT_ARMED a file; until it is there no step counts
 *   FAULT_AT    the step of the fault: its kind and its number from 1 on; without it steps are only counted
 *   FAULT_DO    kill, stop, torn, full, readonly, io, files, "clock SECONDS" or "run COMMAND"
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum kind { NONE, OPEN, WRITE, SYNC, NAME, SOCKET, SPAWN, PIPE, SAY, KINDS };
static const char *const NAMES[KINDS] = {"", "open", "write", "sync", "name", "socket", "spawn", "pipe", "say"};

/* What a step is to do: go on, fail with an error (above), or write a half and die. */
enum { GO_ON = 0, TORN = -1 };

static atomic_int counts[KINDS], is_armed, hit, clock_step;
static enum kind at_kind;
static int at_number, log_fd = -1;
static char home[512], armed[512], deed[2048];

#define REAL(name, ...) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAULT_HOME");
    snprintf(home, sizeof home, "%s", text ? text : "//");
    text = getenv("FAULT_ARMED");
    snprintf(armed, sizeof armed, "%s", text ? text : "");
    text = getenv("FAULT_DO");
    snprintf(deed, sizeof deed, "%s", text ? text : "");
    text = getenv("FAULT_AT");
    char name[16];
    if (text && sscanf(text, "%15s %d", name, &at_number) == 2)
        for (int kind = 1; kind < KINDS; kind++)
            if (!strcmp(name, NAMES[kind])) at_kind = kind;
    text = getenv("FAULT_LOG");
    if (text) {
        int low = syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        /* Out of the way of the limit on descriptors. */
        log_fd = fcntl(low, F_DUPFD_CLOEXEC, 200);
        close(low);
    }
    /* What this process starts is not under test. */
    unsetenv("LD_PRELOAD");
}

static void note(const char *kind, const char *mark)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%s%s\n", kind, mark);
    if (log_fd >= 0) syscall(SYS_write, log_fd, line, length);
}

static void limit_files(void)
{
    struct rlimit limit;
    int free_one = syscall(SYS_dup, 0);
    if (free_one < 0 || getrlimit(RLIMIT_NOFILE, &limit)) return;
    syscall(SYS_close, free_one);
    limit.rlim_cur = free_one;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void run(const char *command)
{
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
}

/* Takes one step; what is to become of it. A full disk stays full, and one that cannot be written stays so. */
static int step(enum kind kind)
{
    if (kind == NONE || !(is_armed = is_armed || !syscall(SYS_faccessat, AT_FDCWD, armed, F_OK))) return GO_ON;
    int saved = errno, number = atomic_fetch_add(&counts[kind], 1) + 1;
    int is_it = kind == at_kind && number == at_number;
    if (is_it) hit = 1;
    note(NAMES[kind], is_it ? " !" : "");
    int is_on_disk = kind == OPEN || kind == WRITE || kind == SYNC || kind == NAME;
    if (hit && is_on_disk && !strcmp(deed, "readonly")) return EROFS;
    if (hit && (kind == WRITE || kind == OPEN) && !strcmp(deed, "full")) return ENOSPC;
    if (!is_it) return GO_ON;
    if (!strcmp(deed, "io")) return EIO;
    if (!strcmp(deed, "torn")) return TORN;
    if (!strcmp(deed, "kill")) syscall(SYS_kill, getpid(), SIGKILL);
    if (!strcmp(deed, "stop")) syscall(SYS_kill, getpid(), SIGSTOP);
    if (!strcmp(deed, "files")) limit_files();
    if (!strncmp(deed, "clock ", 6)) clock_step = atoi(deed + 6);
    if (!strncmp(deed, "run ", 4)) run(deed + 4);
    errno = saved;
    return GO_ON;
}

static int is_at_home(const char *path)
{
    return path && !strncmp(path, home, strlen(home));
}

static enum kind kind_of_path(const char *path, enum kind kind)
{
    return is_at_home(path) ? kind : NONE;
}

static int has_name(int fd)
{
    struct sockaddr_un name;
    socklen_t length = sizeof name;
    if (!getpeername(fd, (struct sockaddr *)&name, &length) && name.sun_family == AF_UNIX && length > sizeof(sa_family_t)) return 1;
    length = sizeof name;
    return !getsockname(fd, (struct sockaddr *)&name, &length) && name.sun_family == AF_UNIX && length > sizeof(sa_family_t);
}

static enum kind kind_of_fd(int fd, enum kind on_disk)
{
    int saved = errno;
    enum kind kind = NONE;
    struct stat data;
    char link[32], path[512];
    if (fd == 1 || fd == 2) kind = SAY;
    else if (!fstat(fd, &data)) {
        if (S_ISFIFO(data.st_mode)) kind = PIPE;
        if (S_ISSOCK(data.st_mode) && has_name(fd)) kind = SOCKET;
        if (S_ISREG(data.st_mode)) {
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t length = readlink(link, path, sizeof path - 1);
            path[length > 0 ? length : 0] = 0;
            kind = kind_of_path(path, on_disk);
        }
    }
    errno = saved;
    return kind;
}

#define FAIL_OR(kind, torn) \
    int what = step(kind); \
    if (what > 0) { errno = what; return -1; } \
    if (what == TORN) { torn; syscall(SYS_kill, getpid(), SIGKILL); }

ssize_t write(int fd, const void *bytes, size_t length)
{
    REAL(write)
    FAIL_OR(kind_of_fd(fd, WRITE), real(fd, bytes, length / 2))
    return real(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    REAL(writev)
    FAIL_OR(kind_of_fd(fd, WRITE), syscall(SYS_write, fd, parts[0].iov_base, parts[0].iov_len / 2))
    return real(fd, parts, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    REAL(pwrite)
    FAIL_OR(kind_of_fd(fd, WRITE), real(fd, bytes, length / 2, offset))
    return real(fd, bytes, length, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
{
    REAL(pwrite64)
    FAIL_OR(kind_of_fd(fd, WRITE), real(fd, bytes, length / 2, offset))
    return real(fd, bytes, length, offset);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    REAL(send)
    FAIL_OR(kind_of_fd(fd, NONE), real(fd, bytes, length / 2, flags))
    return real(fd, bytes, length, flags);
}

int fsync(int fd)
{
    REAL(fsync)
    FAIL_OR(kind_of_fd(fd, SYNC), )
    return real(fd);
}

int fdatasync(int fd)
{
    REAL(fdatasync)
    FAIL_OR(kind_of_fd(fd, SYNC), )
    return real(fd);
}

int ftruncate(int fd, off_t length)
{
    REAL(ftruncate)
    FAIL_OR(kind_of_fd(fd, NAME), )
    return real(fd, length);
}

int ftruncate64(int fd, off64_t length)
{
    REAL(ftruncate64)
    FAIL_OR(kind_of_fd(fd, NAME), )
    return real(fd, length);
}

int rename(const char *from, const char *to)
{
    REAL(rename)
    FAIL_OR(kind_of_path(to, NAME), )
    return real(from, to);
}

int unlink(const char *path)
{
    REAL(unlink)
    FAIL_OR(kind_of_path(path, NAME), )
    return real(path);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(mkdir)
    FAIL_OR(kind_of_path(path, NAME), )
    return real(path, mode);
}

int connect(int fd, const struct sockaddr *name, socklen_t length)
{
    REAL(connect)
    FAIL_OR(name->sa_family == AF_UNIX ? SOCKET : NONE, )
    return real(fd, name, length);
}

int bind(int fd, const struct sockaddr *name, socklen_t length)
{
    REAL(bind)
    FAIL_OR(name->sa_family == AF_UNIX ? SOCKET : NONE, )
    return real(fd, name, length);
}

#define OPENS(name) \
int name(const char *path, int flags, ...) \
{ \
    va_list more; \
    va_start(more, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
    va_end(more); \
    REAL(name) \
    FAIL_OR(flags & (O_WRONLY | O_RDWR) ? kind_of_path(path, OPEN) : NONE, ) \
    return real(path, flags, mode); \
}
OPENS(open)
OPENS(open64)

/* These give an error instead of setting one. */
#define SPAWNS(name) \
int name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, \
         char *const words[], char *const environment[]) \
{ \
    REAL(name) \
    step(SPAWN); \
    return real(pid, path, actions, attributes, words, environment); \
}
SPAWNS(posix_spawn)
SPAWNS(posix_spawnp)

int clock_gettime(clockid_t clock, struct timespec *time)
{
    REAL(clock_gettime)
    int done = real(clock, time);
    if (!done && clock == CLOCK_REALTIME) time->tv_sec += clock_step;
    return done;
}
