//! Colours, or none. The terminal's own sixteen are used, so that light and
//! dark backgrounds look as their owner set them up.

use crate::style::TextStyle;
use crate::transcript_view::highlight::Kind;
use ratatui::style::{Color, Modifier, Style};

/// How things look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    colours: bool,
}

#[expect(clippy::unused_self, reason = "every look is asked of the theme")]
impl Theme {
    /// With colours, or without.
    pub(crate) const fn new(colours: bool) -> Self {
        Self { colours }
    }

    /// Whether there are colours.
    pub(crate) fn has_colours(self) -> bool {
        self.colours
    }

    fn colour(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    /// The style of a look.
    pub(crate) fn style(self, look: TextStyle) -> Style {
        match look {
            TextStyle::Normal => Style::new(),
            TextStyle::Dim => self.dim(),
            TextStyle::Bold => Style::new().add_modifier(Modifier::BOLD),
            TextStyle::Red => self.colour(Color::Red),
            TextStyle::Yellow => self.colour(Color::Yellow),
            TextStyle::Blue => self.colour(Color::Blue),
            TextStyle::Cyan => self.colour(Color::Cyan),
            TextStyle::Green => self.colour(Color::Green),
            TextStyle::Magenta => self.colour(Color::Magenta),
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

    pub(crate) fn title(self) -> Style {
        self.accent().add_modifier(Modifier::BOLD)
    }

    /// A word of a program's language inside a sentence.
    pub(crate) fn inline_code(self) -> Style {
        self.colour(Color::Magenta)
    }

    /// Something that leads elsewhere.
    pub(crate) fn link(self) -> Style {
        self.colour(Color::Blue).add_modifier(Modifier::UNDERLINED)
    }

    /// What was searched for and found.
    pub(crate) fn found(self) -> Style {
        let style = Style::new().add_modifier(Modifier::REVERSED);
        if self.colours { style.fg(Color::Yellow) } else { style.add_modifier(Modifier::BOLD) }
    }

    /// A piece of code.
    pub(crate) fn code(self, kind: Kind) -> Style {
        match kind {
            Kind::Plain => Style::new(),
            Kind::Comment => self.dim(),
            Kind::Text => self.colour(Color::Green),
            Kind::Value => self.colour(Color::Magenta),
            Kind::Word => self.colour(Color::Blue),
            Kind::Name => self.colour(Color::Cyan),
            Kind::Shape => self.colour(Color::Yellow),
        }
    }
}
