//! Where a term stands in a section, and how the index stores it.

/// Where in a section a term stands; the strongest place counts. The discriminant is what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the text, after its first words.
    Text = 1,
    /// In the page's path or a heading above.
    Trail = 2,
    /// Among the first words of the text.
    Lead = 3,
    /// In the page's title or its front matter's keywords.
    Context = 4,
    /// In the section's own heading.
    Heading = 5,
}

impl Place {
    /// The place and whether the term is only a part of a name there, from what the index stores; `None` for 0.
    pub(crate) fn of_code(code: u32) -> Option<(Self, bool)> {
        let place = match code.checked_sub(1)? / 2 {
            0 => Self::Text,
            1 => Self::Trail,
            2 => Self::Lead,
            3 => Self::Context,
            _ => Self::Heading,
        };
        Some((place, code % 2 == 1))
    }

    /// What the index stores: 1 to 10, a part below the whole word in the same place.
    pub(crate) fn code(self, is_part: bool) -> u8 {
        2 * self as u8 - u8::from(is_part)
    }
}

/// Highest code of [`Place::code`].
pub(crate) const MAX_PLACE_CODE: usize = 10;
