//! How a text looks: the few looks that every face of the program shares.

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TextStyle {
    #[default]
    Normal,
    /// Beside the point.
    Dim,
    /// To be seen first.
    Bold,
    Red,
    /// Something is to be known.
    Yellow,
    /// One part of a picture.
    Blue,
    Cyan,
    /// Another; also what is new.
    Green,
    Magenta,
}
