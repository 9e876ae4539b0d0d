//! What is known of programs that people sit in front of: shells, and programs that fill the screen.

/// Shells, and programs behind which mostly a shell of another machine or user is.
const SHELLS: &[&str] = &[
    "bash",
    "sh",
    "zsh",
    "fish",
    "dash",
    "ksh",
    "mksh",
    "ash",
    "tcsh",
    "csh",
    "nu",
    "pwsh",
    "elvish",
    "xonsh",
    "ssh",
    "mosh-client",
    "su",
    "sudo",
    "docker",
    "podman",
    "kubectl",
];

/// Shells whose prompts end in `>`.
const ANGLE_SHELLS: &[&str] = &["fish", "nu", "pwsh", "elvish"];

/// Programs that wait for keys whenever they fill the screen.
const INTERACTIVE: &[&str] = &[
    "less",
    "more",
    "most",
    "man",
    "pager",
    "delta",
    "vi",
    "vim",
    "nvim",
    "view",
    "vimdiff",
    "nano",
    "pico",
    "emacs",
    "emacsclient",
    "micro",
    "hx",
    "helix",
    "kak",
    "ed",
    "tig",
    "lazygit",
    "fzf",
    "sk",
    "dialog",
    "whiptail",
    "mc",
    "ranger",
    "nnn",
    "lf",
    "yazi",
    "ncdu",
    "mutt",
    "neomutt",
];

/// Whether a program that fills the screen does so to be typed into.
pub(super) fn is_interactive(command: &str) -> bool {
    INTERACTIVE.contains(&command)
}

/// Whether a row is the prompt of the shell that runs, with or without something typed behind it.
pub(super) fn is_prompt(row: &str, command: &str) -> bool {
    // A login shell is `-bash`.
    let command = command.strip_prefix('-').unwrap_or(command);
    if !SHELLS.contains(&command) {
        return false;
    }
    let row = row.trim_start();
    if row.starts_with(['❯', '➜', 'λ', '»']) {
        return true;
    }
    let angle = ANGLE_SHELLS.contains(&command);
    let is_sigil = |c: char| matches!(c, '$' | '#' | '%' | '❯') || (angle && c == '>');
    let mut rest = row;
    let mut before = 0;
    while let Some(at) = rest.find(is_sigil) {
        let sigil = rest[at..].chars().next().map_or(1, char::len_utf8);
        if rest[at + sigil..].is_empty() || rest[at + sigil..].starts_with(' ') {
            return is_place(&row[..before + at]);
        }
        before += at + sigil;
        rest = &rest[at + sigil..];
    }
    false
}

/// What may stand before a shell's sigil: nothing, `ada@box:~/src`, `[ada@box src]`, `(venv) ada@box:~`, `box src`.
fn is_place(before: &str) -> bool {
    let mut before = before.trim_end();
    while let Some(rest) = before.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        before = rest.1.trim_start();
    }
    if before.starts_with('[') && before.ends_with(']') {
        return true;
    }
    let words = before.split_whitespace().count();
    words <= 1 || (words == 2 && before.contains('@')) || before.starts_with("bash-")
}
