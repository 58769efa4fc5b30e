//! Where a term stands in a section, and how the index stores it.

/// Where in a section a term stands; the strongest place counts. Weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the text, after its first words.
    Text = 1,
    /// Among the first words of the text.
    Lead = 2,
    /// In the page's path or a heading above.
    Trail = 3,
    /// In the page's title or its front matter's keywords.
    Context = 4,
    /// In the section's own heading.
    Heading = 5,
}

impl Place {
    const ALL: [Self; 5] = [Self::Text, Self::Lead, Self::Trail, Self::Context, Self::Heading];

    /// The place and whether the term is only a part of a name there, from what the index stores; `None` for 0.
    ///
    /// Tantivy is handed a term as often as its code says, so the commonest have the smallest: whole words first.
    pub(crate) fn of_code(code: u32) -> Option<(Self, bool)> {
        let at = (code as usize).checked_sub(1)?;
        let place = Self::ALL.get(at % Self::ALL.len())?;
        Some((*place, at >= Self::ALL.len()))
    }

    /// How strong a place is beside the others, a part below the whole word in the same place; at most [`MAX_PLACE_CODE`].
    pub(crate) fn strength(self, is_part: bool) -> u8 {
        2 * self as u8 - u8::from(is_part)
    }

    /// What the index stores for a strength: 1 to [`MAX_PLACE_CODE`].
    pub(crate) fn code_of_strength(strength: u8) -> u8 {
        let place =
            Self::ALL.iter().position(|place| strength.div_ceil(2) == *place as u8).unwrap_or(0);
        let is_part = strength % 2 == 1;
        1 + place as u8 + if is_part { Self::ALL.len() as u8 } else { 0 }
    }
}

/// Highest code of [`Place::code_of_strength`].
pub(crate) const MAX_PLACE_CODE: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_they_were_written() {
        for place in Place::ALL {
            for is_part in [false, true] {
                let code = Place::code_of_strength(place.strength(is_part));
                assert_eq!(Place::of_code(code.into()), Some((place, is_part)));
                assert!((1..=MAX_PLACE_CODE).contains(&code.into()));
            }
        }
    }
}
