//! How the dashboard looks and asks.

use super::{Source, Step, THEMES, syntax};
use crate::config::file::UiTable;
use crate::config::{ConfigError, UiConfig, paths};

impl Source<'_> {
    pub(super) fn ui(&self, table: &UiTable) -> Result<UiConfig, ConfigError> {
        let default = UiConfig::default();
        let is_known = |theme: &str| THEMES.contains(&theme) || paths::has_theme(self.path, theme);
        if let Some(theme) = table.theme.as_deref().filter(|theme| !is_known(theme)) {
            let hint = syntax::suggestion(theme, THEMES, "themes");
            return Err(self.fault(&[Step::Key("ui"), Step::Key("theme")], format!("unknown theme `{theme}`"), hint));
        }
        Ok(UiConfig {
            theme: table.theme.clone().unwrap_or(default.theme),
            unicode: table.unicode.unwrap_or(default.unicode),
            motion: table.motion.unwrap_or(default.motion),
            mouse: table.mouse.unwrap_or(default.mouse),
            confirm: table.confirm.unwrap_or(default.confirm),
        })
    }
}
