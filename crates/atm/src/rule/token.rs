//! Words, numbers and signs of a rule.

use super::RuleError;

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Number(i64),
    /// A name or a word of the language.
    Word(&'a str),
    Sign(&'a str),
    End,
}

/// A piece and where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) piece: Piece<'a>,
    pub(super) at: usize,
}

impl Token<'_> {
    /// The piece as a message names it.
    pub(super) fn found(&self) -> String {
        match self.piece {
            Piece::Number(number) => format!("`{number}`"),
            Piece::Word(text) | Piece::Sign(text) => format!("`{text}`"),
            Piece::End => "the end of the rule".to_owned(),
        }
    }
}

/// The signs, longer ones first.
const SIGNS: [&str; 21] = [
    "<=", ">=", "==", "!=", "&&", "||", "<", ">", "=", "!", "+", "-", "*", "/", "%", "(", ")", "{", "}", ";",
    ",",
];

/// An error at a place in the text.
pub(super) fn error_at(text: &str, at: usize, message: impl Into<String>) -> RuleError {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |place| place + 1);
    RuleError {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: message.into(),
    }
}

/// All pieces of `text`, the end last.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, RuleError> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length_of = |belongs: fn(char) -> bool| {
            rest.find(|character: char| !belongs(character)).unwrap_or(rest.len())
        };
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first.is_ascii_digit() {
            let length = length_of(|character| character.is_ascii_digit() || character == '_');
            tokens.push(Token { piece: number(text, at, length)?, at });
            length
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = length_of(|character| character.is_ascii_alphanumeric() || character == '_');
            tokens.push(Token { piece: Piece::Word(&rest[..length]), at });
            length
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            tokens.push(Token { piece: Piece::Sign(sign), at });
            sign.len()
        } else {
            let hint = if "&|".contains(first) { format!("; write `{first}{first}`") } else { String::new() };
            return Err(error_at(text, at, format!("`{first}` means nothing in a rule{hint}")));
        };
        at += length;
    }
    tokens.push(Token { piece: Piece::End, at });
    Ok(tokens)
}

fn number(text: &str, at: usize, length: usize) -> Result<Piece<'_>, RuleError> {
    if text[at + length..].starts_with('.') {
        let message = "expected a whole number: write a share as in `10 * occupancy < 8 * capacity`";
        return Err(error_at(text, at, message));
    }
    let digits = text[at..at + length].replace('_', "");
    match digits.parse() {
        Ok(number) => Ok(Piece::Number(number)),
        Err(_) => Err(error_at(text, at, format!("the number is above {}", i64::MAX))),
    }
}
