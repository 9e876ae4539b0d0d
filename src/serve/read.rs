//! The routes that read: the JSON of `list`, `explain` and `history`, and screens.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router, middleware};
use jiff::Zoned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check::{self, HttpReply};
use super::metrics::locked;
use super::served::Served;
use super::{act, events, openapi, page};
use crate::clock;
use crate::engine::Engine;
use crate::fleet::{Terminal, View};
use crate::history::{Reader, RecordFilter};
use crate::present::dialog_shown::DialogShown;
use crate::present::document::{self, PublicFields};
use crate::present::item::Item;
use crate::present::target::{self, Purpose, resolve_past};
use crate::present::{explanation, times};
use crate::record::Kind;
use crate::screen::{Color, Screen, Style};
use crate::time::Timestamp;

/// Records in one answer, if nothing says how many, and at most.
const USUAL_RECORDS: u32 = 100;
const MOST_RECORDS: u32 = 1000;

/// The answer to a request.
type JsonAnswer = Result<Json<Value>, HttpReply>;

/// All routes, with the checks of every request.
pub(super) fn routes(served: Served) -> Router {
    let access = Arc::clone(&served.access);
    Router::new()
        .route("/", get(page::page))
        .route("/manifest.json", get(page::manifest))
        .route("/icon.png", get(page::icon))
        .route("/openapi.json", get(openapi::openapi))
        .route("/metrics", get(metrics))
        .route("/healthz", get(|| async { Json(json!({ "ok": true })) }))
        .route("/v1/terminals", get(terminals))
        .route("/v1/terminals/{id}", get(terminal))
        .route("/v1/terminals/{id}/dialog", get(dialog))
        .route("/v1/terminals/{id}/screen", get(screen))
        .route("/v1/terminals/{id}/transitions", get(transitions))
        .route("/v1/terminals/{id}/explain", get(explanation))
        .route("/v1/tasks", get(tasks))
        .route("/v1/history", get(records))
        .route("/v1/events", get(events::events))
        .merge(act::routes())
        .fallback(check::missing)
        .method_not_allowed_fallback(check::other_method)
        .with_state(served)
        .layer(middleware::from_fn_with_state(access, check::check))
}

impl Served {
    /// Reads something of a terminal or task, named by its whole name, or by a pane's or window's id.
    pub(super) async fn of<T: Send + 'static>(
        &self,
        id: String,
        tell: impl FnOnce(&Engine, Item<'_>, Timestamp) -> Result<T, HttpReply> + Send + 'static,
    ) -> Result<T, HttpReply> {
        self.ask(move |engine| {
            let now = clock::now();
            let view = engine.fleet().view(now);
            let meant = target::resolve(&id, &Item::all(&view), Purpose::Acting);
            tell(engine, meant.map_err(|unknown| HttpReply::of(StatusCode::NOT_FOUND, &unknown))?, now)
        })
        .await?
    }

    /// The same of an agent's terminal.
    pub(super) async fn of_terminal<T: Send + 'static>(
        &self,
        id: String,
        tell: impl FnOnce(&Engine, &Terminal, Timestamp) -> Result<T, HttpReply> + Send + 'static,
    ) -> Result<T, HttpReply> {
        let tell = |engine: &Engine, meant: Item<'_>, now| {
            let terminal = target::terminal(meant, Purpose::Reading)
                .map_err(|objection| HttpReply::of(StatusCode::CONFLICT, &objection))?;
            tell(engine, terminal, now)
        };
        self.of(id, tell).await
    }
}

/// `GET /metrics`.
async fn metrics(State(served): State<Served>) -> Result<Response, HttpReply> {
    let metrics = Arc::clone(&served.metrics);
    let asked = served.ask(move |engine| locked(&metrics).text_of(engine.fleet(), clock::now()));
    let text = asked.await?.map_err(HttpReply::broken)?;
    Ok(([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response())
}

async fn terminals(State(served): State<Served>) -> JsonAnswer {
    listed(&served, |view| view.terminals.iter().copied().map(Item::Terminal).collect()).await
}

async fn tasks(State(served): State<Served>) -> JsonAnswer {
    listed(&served, |view| view.tasks.iter().copied().map(Item::Task).collect()).await
}

/// The states of some of what is watched.
async fn listed(served: &Served, of: for<'a> fn(&'a View<'a>) -> Vec<Item<'a>>) -> JsonAnswer {
    let all = served.ask(move |engine| {
        let now = clock::now();
        let (fleet, view) = (engine.fleet(), engine.fleet().view(now));
        serde_json::to_value(of(&view).into_iter().map(|meant| PublicFields::of(fleet, meant, now)).collect::<Vec<_>>())
    });
    all.await?.map(Json).map_err(HttpReply::broken)
}

async fn terminal(State(served): State<Served>, Path(id): Path<String>) -> JsonAnswer {
    let one = served.of(id, |engine, meant, now| {
        serde_json::to_value(PublicFields::of(engine.fleet(), meant, now)).map_err(HttpReply::broken)
    });
    one.await.map(Json)
}

async fn dialog(State(served): State<Served>, Path(id): Path<String>) -> Result<Json<Option<DialogShown>>, HttpReply> {
    served.of_terminal(id, |_, terminal, _| Ok(Json(DialogShown::of(terminal)))).await
}

async fn screen(State(served): State<Served>, Path(id): Path<String>) -> Result<Json<ScreenShown>, HttpReply> {
    let shown = |_: &Engine, terminal: &Terminal, _| {
        // A screen that can no longer be read is as old as its last good poll.
        let at = terminal.state.stale.as_ref().map_or(terminal.state.observed_at, |stale| stale.at);
        Ok((terminal.screen(), at))
    };
    let (screen, at) = served.of_terminal(id, shown).await?;
    let Some(screen) = screen else {
        let hint = "`fleetwatch doctor` says whether its server answers";
        return Err(HttpReply::new(StatusCode::CONFLICT, "its screen could not be read", hint));
    };
    Ok(Json(ScreenShown::of(&screen, at)))
}

/// A screen. Invisible characters are spelled out.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ScreenShown {
    at: Timestamp,
    columns: u16,
    /// Each as runs of one style.
    rows: Vec<Vec<StyledRun>>,
}

/// A text with its style, as far as that is not the default.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StyledRun {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    foreground: Option<ColorShown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<ColorShown>,
    #[serde(skip_serializing_if = "is_not")]
    bold: bool,
    #[serde(skip_serializing_if = "is_not")]
    dim: bool,
    #[serde(skip_serializing_if = "is_not")]
    italic: bool,
    #[serde(skip_serializing_if = "is_not")]
    underline: bool,
    #[serde(skip_serializing_if = "is_not")]
    inverse: bool,
}

/// A colour of the terminal's 256, or `#rrggbb`.
#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum ColorShown {
    Indexed(u8),
    Rgb(String),
}

impl ScreenShown {
    fn of(screen: &Screen, at: Timestamp) -> Self {
        let stretches = |row: &crate::screen::Row| -> Vec<StyledRun> {
            row.spelled().runs().map(|(text, style)| StyledRun::of(text, style)).collect()
        };
        Self { at, columns: screen.columns(), rows: screen.rows().iter().map(stretches).collect() }
    }
}

impl StyledRun {
    fn of(text: &str, style: Style) -> Self {
        let color = |color| match color {
            Color::Default => None,
            Color::Indexed(index) => Some(ColorShown::Indexed(index)),
            Color::Rgb(red, green, blue) => Some(ColorShown::Rgb(format!("#{red:02x}{green:02x}{blue:02x}"))),
        };
        let Style { bold, dim, italic, underline, inverse, .. } = style;
        let (foreground, background) = (color(style.foreground), color(style.background));
        Self { text: text.to_owned(), foreground, background, bold, dim, italic, underline, inverse }
    }
}

/// The signature that serde requires.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_not(flag: &bool) -> bool {
    !*flag
}

async fn transitions(State(served): State<Served>, Path(id): Path<String>) -> JsonAnswer {
    let document =
        |_: &Engine, terminal: &Terminal, _| serde_json::to_value(&terminal.transitions).map_err(HttpReply::broken);
    served.of_terminal(id, document).await.map(Json)
}

async fn explanation(State(served): State<Served>, Path(id): Path<String>) -> JsonAnswer {
    let document = |engine: &Engine, meant: Item<'_>, now| match meant {
        Item::Task(task) => Ok(json!({ "state": task.fields(), "why": task.why(now) })),
        Item::Terminal(terminal) => {
            let (fleet, profiles) = (engine.fleet(), &engine.settings().profiles);
            let read = explanation::read(terminal, profiles);
            let read = read.map_err(|objection| HttpReply::of(StatusCode::CONFLICT, &objection))?;
            Ok(read.json(fleet, &terminal.key, &fleet.state_of(terminal, now)))
        }
    };
    served.of(id, document).await.map(Json)
}

/// The records that are asked for, in the options of `history`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryQuery {
    target: Option<String>,
    since: Option<String>,
    until: Option<String>,
    kind: Option<String>,
    limit: Option<u32>,
}

/// The records, oldest first, in the JSON of `history --json`.
async fn records(State(served): State<Served>, asked: Result<Query<HistoryQuery>, QueryRejection>) -> JsonAnswer {
    let bad = |error: String, hint: &str| HttpReply::new(StatusCode::BAD_REQUEST, error, hint);
    let takes = "it takes target, since, until, kind and limit";
    let Query(asked) = asked.map_err(|error| bad(error.body_text(), takes))?;
    let now = Zoned::now();
    let time = |text: &Option<String>| {
        let read = text.as_deref().map(|text| times::moment(text, &now)).transpose();
        read.map_err(|objection| HttpReply::of(StatusCode::BAD_REQUEST, &objection))
    };
    let kinds = asked.kind.as_deref().map(|kinds| {
        let unknown = |word: &str| bad(format!("there is no kind `{word}`"), &all_kinds());
        let kinds = kinds.split(',').map(|word| Kind::of_word(word).ok_or_else(|| unknown(word)));
        kinds.collect::<Result<Vec<_>, _>>()
    });
    let mut filter = RecordFilter {
        since: time(&asked.since)?,
        until: time(&asked.until)?,
        kinds: kinds.transpose()?.unwrap_or_default(),
        limit: Some(asked.limit.unwrap_or(USUAL_RECORDS).min(MOST_RECORDS)),
        ..RecordFilter::default()
    };
    let Some((path, _)) = served.history.clone() else {
        return Err(HttpReply::new(StatusCode::CONFLICT, "no history is kept", "set `enabled = true` in [history]"));
    };
    let read = tokio::task::spawn_blocking(move || {
        let mut reader = Reader::open(&path).map_err(HttpReply::broken)?;
        if let Some(target) = &asked.target {
            let terminals = reader.terminals().map_err(HttpReply::broken)?;
            let known: Vec<_> = terminals.iter().map(|one| (&one.key, one.name.as_str())).collect();
            let found = resolve_past(target, &known, |name| reader.named(name)).map_err(HttpReply::broken)?;
            filter.terminals = Some(found.map_err(|unknown| HttpReply::of(StatusCode::NOT_FOUND, &unknown))?);
        }
        reader.records(&filter).map_err(HttpReply::broken)
    });
    let records = read.await.map_err(HttpReply::broken)??;
    Ok(Json(records.iter().map(document::of_record).collect()))
}

fn all_kinds() -> String {
    format!("kinds are {}", Kind::words().join(", "))
}
