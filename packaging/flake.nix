# nix run 'github:OWNER/fleetwatch?dir=packaging' -- demo
{
  description = "A terminal dashboard that shows the true state of every coding agent in tmux";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = build: nixpkgs.lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});
      manifest = (nixpkgs.lib.importTOML ../Cargo.toml).package;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.name;
          version = manifest.version;
          src = ../.;
          cargoLock.lockFile = ../Cargo.lock;
          env = nixpkgs.lib.optionalAttrs (self ? rev) { FLEETWATCH_COMMIT = self.rev; };
          nativeBuildInputs = [ pkgs.installShellFiles pkgs.makeWrapper ];
          # The tests drive tmux servers and agents, which .ci/run does.
          doCheck = false;
          postInstall = ''
            mkdir man && $out/bin/fleetwatch man --all man && installManPage man/*.1
            export PATH=$out/bin:$PATH
            installShellCompletion --cmd fleetwatch \
              --bash <(fleetwatch completions bash) --zsh <(fleetwatch completions zsh) --fish <(fleetwatch completions fish)
            install -D tmux/fleetwatch.tmux $out/share/fleetwatch/fleetwatch.tmux
            wrapProgram $out/bin/fleetwatch --suffix PATH : ${pkgs.lib.makeBinPath [ pkgs.tmux ]}
          '';
          meta = {
            description = manifest.description;
            homepage = manifest.homepage;
            license = pkgs.lib.licenses.mit;
            mainProgram = "fleetwatch";
          };
        };
      });
    };
}
