//! How the files around a terminal differ from the last commit, and which are untracked: always as it is now.

use ratatui::prelude::{Buffer, Line, Modifier, Rect};

use crate::repository::{DiffLine, DiffLineKind, GitError, GitFacts, WorkingTreeDiff};
use crate::screen::KeptScreen;
use crate::status::Status;
use crate::time::{Span, Timestamp};
use crate::ui::pace::REREAD;
use crate::ui::search::SearchableText;
use crate::ui::{Canvas, blank, line, span};

/// The difference that is read.
#[derive(Clone, Debug, Default)]
pub struct DiffView {
    result: Option<Result<WorkingTreeDiff, GitError>>,
    asked: Option<AskedDiff>,
    is_under_way: bool,
    pub reader: SearchableText,
}

/// What was known when it was asked for.
#[derive(Clone, Debug)]
struct AskedDiff {
    git: Option<GitFacts>,
    screen: Option<KeptScreen>,
    at: Timestamp,
}

impl DiffView {
    /// Whether another one may be there by now.
    pub fn is_due(&self, git: Option<&GitFacts>, screen: Option<&KeptScreen>, now: Timestamp) -> bool {
        let Some(asked) = &self.asked else { return true };
        let age = now.since(asked.at);
        let is_same_screen = match (&asked.screen, screen) {
            (Some(asked), Some(screen)) => asked.is_same(screen),
            (asked, screen) => asked.is_none() == screen.is_none(),
        };
        let has_failed = matches!(self.result, Some(Err(_)));
        !self.is_under_way
            && ((asked.git.as_ref() != git && age >= Span::SECOND)
                || ((!is_same_screen || has_failed) && age >= REREAD))
    }

    /// Takes note that it is asked for.
    pub fn ask(&mut self, git: Option<&GitFacts>, screen: Option<&KeptScreen>, now: Timestamp) {
        self.asked = Some(AskedDiff { git: git.cloned(), screen: screen.cloned(), at: now });
        self.is_under_way = true;
    }

    /// Takes in what was read.
    pub fn set(&mut self, result: Result<WorkingTreeDiff, GitError>) {
        self.is_under_way = false;
        let lines = result.iter().flat_map(|diff| &diff.lines);
        self.reader.set_texts(lines.map(|line| &line.text));
        self.result = Some(result);
    }

    fn difference(&self) -> Option<&WorkingTreeDiff> {
        self.result.as_ref()?.as_ref().ok()
    }

    /// Goes to the next file, or to the one before.
    pub fn step_file(&mut self, forward: bool) {
        let first = self.reader.view.first();
        if let Some(line) = self.difference().and_then(|diff| diff.file_beside(first, forward)) {
            self.reader.view.begin_at(line);
        }
    }

    /// Whether there are files to go to.
    pub fn has_files(&self) -> bool {
        self.difference().is_some_and(|diff| diff.files.len() > 1)
    }

    /// Which of the files are in view; nothing where there is none.
    pub fn place(&self) -> Option<String> {
        let files = &self.difference()?.files;
        let (first, page) = (self.reader.view.first(), self.reader.view.page().max(1));
        let begun_by = |row: usize| files.iter().filter(|line| **line <= row).count().max(1);
        let (from, to) = (begun_by(first), begun_by(first + page - 1));
        let shown = if from == to { format!("file {from}") } else { format!("files {from}–{to}") };
        (!files.is_empty()).then(|| format!("{shown} of {}", files.len()))
    }

    /// Draws it, or says why there is none.
    pub fn draw(&mut self, canvas: &Canvas<'_>, buffer: &mut Buffer, area: Rect, is_here: bool) {
        let area = self.reader.draw_typing(canvas, buffer, area);
        let why = match &self.result {
            None if is_here => "reading …".to_owned(),
            None => "nothing was read while it was there".to_owned(),
            Some(Err(trouble)) => trouble.to_string(),
            Some(Ok(diff)) if diff.is_empty() => "no changes since the last commit".to_owned(),
            Some(Ok(diff)) => {
                let line = |index: usize| line_of(canvas, &diff.lines[index]);
                return self.reader.draw(canvas, buffer, area, diff.lines.len(), line);
            }
        };
        line::draw(buffer, area, vec![blank(1), span(why, canvas.theme.parts.quiet)]);
    }
}

fn line_of(canvas: &Canvas<'_>, line: &DiffLine) -> Line<'static> {
    let parts = &canvas.theme.parts;
    let of_status = |status| canvas.theme.style(status).remove_modifier(Modifier::BOLD);
    let style = match line.kind {
        DiffLineKind::File => parts.title,
        DiffLineKind::Hunk => parts.key,
        DiffLineKind::Added => of_status(Status::Finished),
        DiffLineKind::Removed => of_status(Status::Failed),
        DiffLineKind::Same => parts.text,
        DiffLineKind::Note => parts.quiet,
    };
    span(&line.text, style).into()
}
