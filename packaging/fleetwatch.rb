# A formula for a tap, `brew install OWNER/tap/fleetwatch`. packaging/fill puts the version and the checksums in.
class Fleetwatch < Formula
  desc "Terminal dashboard that shows the true state of every coding agent in tmux"
  homepage "https://github.com/OWNER/fleetwatch"
  version "@VERSION@"
  license "MIT"

  depends_on "tmux"

  on_macos do
    on_arm do
      url "https://github.com/OWNER/fleetwatch/releases/download/v@VERSION@/fleetwatch-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256:aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/OWNER/fleetwatch/releases/download/v@VERSION@/fleetwatch-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256:x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/OWNER/fleetwatch/releases/download/v@VERSION@/fleetwatch-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256:aarch64-unknown-linux-gnu@"
    end
    on_intel do
      url "https://github.com/OWNER/fleetwatch/releases/download/v@VERSION@/fleetwatch-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256:x86_64-unknown-linux-gnu@"
    end
  end

  def install
    bin.install "fleetwatch"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/fleetwatch.bash" => "fleetwatch"
    zsh_completion.install "completions/_fleetwatch"
    fish_completion.install "completions/fleetwatch.fish"
    pkgshare.install "fleetwatch.tmux"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/fleetwatch --version")
    assert_match "[watch]", shell_output("#{bin}/fleetwatch config")
  end
end
