//! Colours, or none. The terminal's own sixteen are used, so that light and
//! dark backgrounds look as their owner set them up.

use crate::look::Look;
use ratatui::style::{Color, Modifier, Style};

/// How things look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    colours: bool,
}

#[expect(clippy::unused_self, reason = "every look is asked of the theme")]
impl Theme {
    /// With colours, or without.
    pub(crate) fn new(colours: bool) -> Self {
        Self { colours }
    }

    fn colour(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    /// The style of a look.
    pub(crate) fn style(self, look: Look) -> Style {
        match look {
            Look::Normal => Style::new(),
            Look::Dim => self.dim(),
            Look::Bold => Style::new().add_modifier(Modifier::BOLD),
            Look::Red => self.colour(Color::Red),
            Look::Yellow => self.colour(Color::Yellow),
            Look::Blue => self.colour(Color::Blue),
            Look::Cyan => self.colour(Color::Cyan),
            Look::Green => self.colour(Color::Green),
            Look::Magenta => self.colour(Color::Magenta),
        }
    }

    /// Beside the point.
    pub(crate) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What is chosen in a list.
    pub(crate) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The mark of the program: prompts, titles, frames in use.
    pub(crate) fn accent(self) -> Style {
        self.colour(Color::Cyan)
    }

    /// A title.
    pub(crate) fn title(self) -> Style {
        self.accent().add_modifier(Modifier::BOLD)
    }
}
