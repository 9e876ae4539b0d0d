//! `fleetwatch token`: makes, lists and revokes the tokens that give access to `serve`.

use std::fs::File;
use std::io::{self, Read as _};
use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use jiff::Zoned;

use super::failure::nothing;
use super::history::local;
use super::list::aligned;
use super::{Done, Failure, console, output};
use crate::clock;
use crate::hash::hexadecimal;
use crate::present::objection::Objection;
use crate::time::Timestamp;
use crate::token::{Scope, Token, TokenFile};

/// The beginning of every token, by which a leaked one is recognised.
const PREFIX: &str = "fwt_";
/// Random bytes of a token: nobody guesses it, so its hash needs no salt and no work.
const SECRET_BYTES: usize = 32;
/// The longest name of a token.
const LONGEST_NAME: usize = 32;

/// Make, list or revoke the tokens for `serve`.
#[derive(Clone, Debug, clap::Args)]
#[command(before_help = "Example: fleetwatch token add phone --scope act")]
#[command(args_conflicts_with_subcommands = true)]
pub struct TokenArgs {
    #[command(flatten)]
    list: ListedTokens,
    #[command(subcommand)]
    command: Option<TokenCommand>,
}

/// How tokens are listed.
#[derive(Clone, Debug, clap::Args)]
struct ListedTokens {
    /// Print one JSON array: `{"name", "scope", "created", "expires"}`.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum TokenCommand {
    /// Make a token and print it. Only its hash is kept, so it is shown only this once.
    #[command(before_help = "Example: fleetwatch token add phone --scope act --for 90d")]
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
    /// List the tokens, and when they expire (the default).
    #[command(before_help = "Example: fleetwatch token list")]
    List(ListedTokens),
    /// Revoke a token: its requests are refused from then on, and its event streams end.
    #[command(before_help = "Example: fleetwatch token revoke phone")]
    Revoke {
        /// The token's name.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

impl ValueEnum for Scope {
    fn value_variants<'a>() -> &'a [Self] {
        Scope::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Scope::Read => "To see everything",
            Scope::Act => "To answer, prompt, interrupt and press keys as well",
        };
        Some(PossibleValue::new(self.word()).help(help))
    }
}

/// The tokens of this user.
pub(super) fn tokens() -> Result<TokenFile, Failure> {
    TokenFile::of_user().ok_or_else(|| {
        Failure::refused("without a home directory there is no place for tokens").hint("set XDG_STATE_HOME")
    })
}

/// Changes the list.
fn change(file: &TokenFile, change: impl FnOnce(&mut Vec<Token>) -> Result<(), Failure>) -> Result<(), Failure> {
    let unusable = |error: io::Error| {
        Failure::refused(format!("the tokens in {} cannot be used: {error}", file.path().display()))
            .hint("the file and its directory must be yours alone; remove the file to start over")
    };
    file.change(change).map_err(unusable)?
}

/// Runs `token`.
///
/// # Errors
/// The name is taken or unknown, or the file cannot be read or written.
pub fn token(args: &TokenArgs) -> Done {
    let file = tokens()?;
    match args.command.as_ref().unwrap_or(&TokenCommand::List(args.list.clone())) {
        TokenCommand::Add { name, scope, good_for } => add(&file, name, *scope, *good_for),
        TokenCommand::List(listed) => list(&file, listed.json),
        TokenCommand::Revoke { name } => {
            change(&file, |tokens| {
                let before = tokens.len();
                tokens.retain(|token| token.name != *name);
                if tokens.len() < before {
                    return Ok(());
                }
                Err(Failure::refused(format!("there is no token `{name}`"))
                    .hint("`fleetwatch token list` lists the tokens"))
            })?;
            console::tell(&format!("{name} is revoked"));
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn add(file: &TokenFile, name: &str, scope: Scope, good_for: jiff::Span) -> Done {
    let (text, token, until) = made(name, scope, good_for)?;
    let now = token.created;
    change(file, |tokens| {
        // The name of an expired one is free again.
        tokens.retain(|token| token.is_good(now));
        if tokens.iter().any(|token| token.name == name) {
            return Err(Failure::refused(format!("there is a token `{name}` already"))
                .hint(format!("`fleetwatch token revoke {name}` revokes it")));
        }
        tokens.push(token);
        Ok(())
    })?;
    console::tell(&format!("good until {}; it is not shown again", until.strftime("%Y-%m-%d %H:%M")));
    output::print(&format!("{text}\n"))
}

/// Makes a token in place of the one of that name, and returns its text.
pub(super) fn replace(file: &TokenFile, name: &str, scope: Scope) -> Result<String, Failure> {
    let (text, token, _) = made(name, scope, jiff::Span::new().days(30))?;
    change(file, |tokens| {
        tokens.retain(|token| token.name != name);
        tokens.push(token);
        Ok(())
    })?;
    Ok(text)
}

/// A new token: its text, what is kept of it, and when it expires.
fn made(name: &str, scope: Scope, good_for: jiff::Span) -> Result<(String, Token, Zoned), Failure> {
    let now = Zoned::now();
    let until = now
        .checked_add(good_for.abs())
        .map_err(|_| Failure::usage("no token is good for that long").hint("write how long, such as 12h, 30d or 1y"))?;
    let at = |time: &Zoned| Timestamp::from_millis(time.timestamp().as_millisecond());
    let mut secret = [0; SECRET_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut secret)?;
    let text = format!("{PREFIX}{}", hexadecimal(&secret));
    let token = Token::new(name, scope, (at(&now), at(&until)), &text);
    Ok((text, token, until))
}

fn list(file: &TokenFile, json: bool) -> Done {
    let tokens = file.read()?;
    if json {
        return output::print_json_array(tokens.iter().map(Token::json));
    }
    if tokens.is_empty() {
        return nothing("there are no tokens", "`fleetwatch token add NAME` makes one");
    }
    let now = clock::now();
    let row = |token: &Token| {
        let over = if token.is_good(now) { "" } else { " (is over)" };
        vec![token.name.clone(), token.scope.to_string(), local(token.expires, "%H:%M") + over]
    };
    let head = ["NAME", "SCOPE", "EXPIRES"];
    output::print(&aligned(&head, &tokens.iter().map(row).collect::<Vec<_>>(), console::terminal_width()))
}

fn name(text: &str) -> Result<String, Objection> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    match (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(is_fit) {
        true => Ok(text.to_owned()),
        false => Err(Objection::new("not a valid name", "write up to 32 letters, digits, `.`, `-` or `_`")),
    }
}

fn span(text: &str) -> Result<jiff::Span, Objection> {
    let bad = Objection::new("not a valid time", "write how long, such as 12h, 30d or 1y");
    text.parse::<jiff::Span>().ok().filter(|span| span.is_positive()).ok_or(bad)
}
