//! Who may ask over HTTP: named tokens with a scope and an end. The file has their hashes only.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use jiff::Zoned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::cli::failure::BadValue;
use crate::cli::{Done, Failure, output};
use crate::history;
use crate::private;
use crate::time::Timestamp;

/// What every token begins with, so that one that lies about is known for what it is.
const PREFIX: &str = "fwt_";
/// Random bytes of a token: nobody guesses it, so its hash needs no salt and no work.
const SECRET_BYTES: usize = 32;
/// The longest name of a token.
const LONGEST_NAME: usize = 32;

/// Make, list or revoke the tokens with which programs and pages ask `fleetwatch serve`.
#[derive(Clone, Debug, clap::Args)]
pub struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum TokenCommand {
    /// Make a token and print it. It is not kept: only its hash is, so it is shown this once.
    Add {
        /// Who it is for: letters, digits, `.`, `-` and `_`.
        #[arg(value_name = "NAME", value_parser = name)]
        name: String,
        /// What it is good for.
        #[arg(long, default_value = "read")]
        scope: Scope,
        /// How long it is good for: 12h, 30d, 1y.
        #[arg(long = "for", value_name = "TIME", default_value = "30d", value_parser = span)]
        good_for: jiff::Span,
    },
    /// List the tokens by name, with when they end.
    List {
        /// Print one JSON array: `{"name", "scope", "created", "expires"}`.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token; who uses it is refused from then on, and the events that it reads end.
    Revoke {
        /// The token's name.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// To see what there is to see.
    Read,
    /// To answer, prompt, interrupt and press keys as well.
    Act,
}

/// A token as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Token {
    pub name: String,
    pub scope: Scope,
    created: Timestamp,
    expires: Timestamp,
    /// SHA-256 of the whole token, in hexadecimal digits.
    hash: String,
}

impl Token {
    /// Whether it has not ended yet.
    pub(super) fn is_good(&self, now: Timestamp) -> bool {
        now < self.expires
    }

    /// What may be told of it.
    fn json(&self) -> serde_json::Value {
        let Self { name, scope, created, expires, .. } = self;
        serde_json::json!({ "name": name, "scope": scope, "created": created, "expires": expires })
    }
}

/// The tokens of this user.
#[derive(Clone, Debug)]
pub(super) struct TokenFile(PathBuf);

impl TokenFile {
    /// # Errors
    /// There is no directory for it.
    pub(super) fn of_user() -> Result<Self, Failure> {
        let directory = history::state_directory().ok_or_else(|| {
            Failure::refused("without a home directory there is no place for tokens").hint("set XDG_STATE_HOME")
        })?;
        Ok(Self(directory.join("tokens.json")))
    }

    #[cfg(test)]
    pub(super) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// All of them, those that have ended among them.
    ///
    /// # Errors
    /// The file cannot be read, others can, or it is no list of tokens.
    pub(super) fn read(&self) -> io::Result<Vec<Token>> {
        private::check_file(&self.0)?;
        let text = match fs::read(&self.0) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            text => text?,
        };
        if fs::metadata(&self.0)?.permissions().mode() & 0o077 != 0 {
            let why = format!("others can read or write {0}: `chmod 600 {0}`", self.0.display());
            return Err(io::Error::new(ErrorKind::PermissionDenied, why));
        }
        serde_json::from_slice(&text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    /// Replaces the list by what `change` makes of it, alone among all processes.
    fn change<T>(&self, change: impl FnOnce(&mut Vec<Token>) -> Result<T, Failure>) -> Result<T, Failure> {
        let unusable = |error: io::Error| {
            Failure::refused(format!("the tokens in {} cannot be used: {error}", self.0.display()))
                .hint("the file and its directory must be yours alone; remove the file to begin anew")
        };
        private::make_directory(self.0.parent().unwrap_or(Path::new("."))).map_err(unusable)?;
        let _alone = private::locked(&self.0.with_extension("lock")).map_err(unusable)?;
        let mut tokens = self.read().map_err(unusable)?;
        let done = change(&mut tokens)?;
        let text = serde_json::to_vec_pretty(&tokens).map_err(|error| unusable(error.into()))?;
        private::replace(&self.0, &text).map_err(unusable)?;
        Ok(done)
    }

    /// The token whose text this is.
    ///
    /// # Errors
    /// As [`TokenFile::read`].
    pub(super) fn find(&self, text: &str) -> io::Result<Option<Token>> {
        let hash = hash(text);
        let mut found = None;
        for token in self.read()? {
            // Every token is looked at, and each whole, so that the time tells nothing.
            if is_equal(token.hash.as_bytes(), hash.as_bytes()) {
                found = Some(token);
            }
        }
        Ok(found)
    }
}

/// Whether two texts are equal, in a time that depends on their length alone.
fn is_equal(left: &[u8], right: &[u8]) -> bool {
    let differing = left.iter().zip(right).fold(0, |differing, (left, right)| differing | (left ^ right));
    left.len() == right.len() && std::hint::black_box(differing) == 0
}

fn hash(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs `token`.
///
/// # Errors
/// The name is taken or unknown, or the file cannot be read or written.
pub fn token(args: &TokenArgs) -> Done {
    let file = TokenFile::of_user()?;
    match &args.command {
        TokenCommand::Add { name, scope, good_for } => add(&file, name, *scope, *good_for),
        TokenCommand::List { json } => list(&file, *json),
        TokenCommand::Revoke { name } => {
            file.change(|tokens| {
                let before = tokens.len();
                tokens.retain(|token| token.name != *name);
                if tokens.len() < before {
                    return Ok(());
                }
                Err(Failure::refused(format!("there is no token `{name}`"))
                    .hint("`fleetwatch token list` lists the tokens"))
            })?;
            output::print("")
        }
    }
}

fn add(file: &TokenFile, name: &str, scope: Scope, good_for: jiff::Span) -> Done {
    let (text, token, until) = made(name, scope, good_for)?;
    let now = token.created;
    file.change(|tokens| {
        // One that has ended gives its name back.
        tokens.retain(|token| token.is_good(now));
        if tokens.iter().any(|token| token.name == name) {
            return Err(Failure::refused(format!("there is a token `{name}` already"))
                .hint(format!("`fleetwatch token revoke {name}` takes it away")));
        }
        tokens.push(token);
        Ok(())
    })?;
    eprintln!("good until {}; it is not shown again", until.strftime("%Y-%m-%d %H:%M"));
    output::print(&format!("{text}\n"))
}

/// Makes a token in place of the one of that name, and returns its text.
///
/// # Errors
/// The file cannot be read or written.
pub(super) fn replace(file: &TokenFile, name: &str, scope: Scope) -> anyhow::Result<String> {
    let (text, token, _) = made(name, scope, jiff::Span::new().days(30))?;
    file.change(|tokens| {
        tokens.retain(|token| token.name != name);
        tokens.push(token);
        Ok(())
    })?;
    Ok(text)
}

/// A new token: its text, what is kept of it, and until when it is good.
fn made(name: &str, scope: Scope, good_for: jiff::Span) -> anyhow::Result<(String, Token, Zoned)> {
    let now = Zoned::now();
    let until = now
        .checked_add(good_for.abs())
        .map_err(|_| Failure::usage("no token is good for that long").hint("write how long, such as 12h, 30d or 1y"))?;
    let at = |time: &Zoned| Timestamp::from_millis(time.timestamp().as_millisecond());
    let mut secret = [0; SECRET_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut secret)?;
    let text = format!("{PREFIX}{}", hexadecimal(&secret));
    let token = Token { name: name.to_owned(), scope, created: at(&now), expires: at(&until), hash: hash(&text) };
    Ok((text, token, until))
}

fn list(file: &TokenFile, json: bool) -> Done {
    let tokens = file.read()?;
    if json {
        let all: Vec<_> = tokens.iter().map(Token::json).collect();
        return output::print(&format!("{:#}\n", serde_json::Value::Array(all)));
    }
    if tokens.is_empty() {
        eprintln!("there are no tokens; `fleetwatch token add NAME` makes one");
    }
    let now = history::now();
    let line = |token: &Token| {
        let ends = if token.is_good(now) { "until" } else { "ended" };
        let scope = token.scope.to_possible_value();
        let scope = scope.as_ref().map_or("", clap::builder::PossibleValue::get_name);
        format!("{}  {scope}  {ends} {}\n", token.name, token.expires)
    };
    output::print(&tokens.iter().map(line).collect::<String>())
}

fn name(text: &str) -> Result<String, BadValue> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    match (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(is_fit) {
        true => Ok(text.to_owned()),
        false => Err(BadValue { what: "this is no name", hint: "write up to 32 letters, digits, `.`, `-` or `_`" }),
    }
}

fn span(text: &str) -> Result<jiff::Span, BadValue> {
    let bad = BadValue { what: "this is no time", hint: "write how long, such as 12h, 30d or 1y" };
    text.parse::<jiff::Span>().ok().filter(|span| span.is_positive()).ok_or(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_by_its_text_alone_and_until_it_ends() {
        let directory = tempfile::tempdir().unwrap();
        let file = TokenFile::at(directory.path().join("state/tokens.json"));
        let (now, end) = (Timestamp::from_millis(1_000), Timestamp::from_millis(2_000));
        let token =
            Token { name: "phone".into(), scope: Scope::Read, created: now, expires: end, hash: hash("fwt_secret") };
        assert_eq!(file.find("fwt_secret").unwrap(), None);
        let add = |tokens: &mut Vec<Token>| {
            tokens.push(token.clone());
            Ok(())
        };
        file.change(add).unwrap();
        assert_eq!(file.find("fwt_secret").unwrap(), Some(token.clone()));
        for other in ["", "fwt_", "fwt_secres", "fwt_secret ", &token.hash] {
            assert_eq!(file.find(other).unwrap(), None, "{other}");
        }
        assert!(token.is_good(now) && !token.is_good(end));
        let text = fs::read_to_string(&file.0).unwrap();
        assert!(!text.contains("fwt_secret"), "{text}");
        assert_eq!(fs::metadata(&file.0).unwrap().permissions().mode() & 0o777, 0o600);
        // Whoever else could write it could let themselves in.
        fs::set_permissions(&file.0, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(file.read().unwrap_err().to_string().contains("chmod 600"));
    }
}
