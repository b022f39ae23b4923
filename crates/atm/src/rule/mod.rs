//! A small language for rules: one expression over named values, checked before anything runs.
//!
//! ```text
//! rule       = { "let" name "=" expression ";" } expression
//! expression = "if" expression "{" expression "}" "else" ( "{" expression "}" | expression ) | or
//! or         = and { "||" and }                 and     = comparison { "&&" comparison }
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }  product = unary { ("*" | "/" | "%") unary }
//! unary      = { "!" | "-" } atom
//! atom       = whole number | "true" | "false" | name | ("min" | "max") "(" expression "," expression ")" | "(" expression ")"
//! ```
//!
//! `//` begins a comment. There are whole numbers of 64 bits and truth values, and the two do not mix. A rule that compiles has a value
//! whatever it is asked about: there are no loops and no calls, sums and products stop at the largest number, and a division by
//! zero gives the largest number of the dividend's sign, or zero for 0/0. So a rule can neither fail nor hang in a run, and has the same
//! value on every machine.
//!
//! ```
//! use celltrain_atm::rule::{Kind, Known, Rule};
//!
//! let known = [Known { name: "held", kind: Kind::Number }, Known { name: "red", kind: Kind::Truth }];
//! let rule = Rule::compile("let most = if red { 10 } else { 20 };\nheld < most", &known).unwrap();
//! assert!(rule.holds(&mut vec![15, 0]));
//! assert!(!rule.holds(&mut vec![15, 1]));
//!
//! let error = Rule::compile("held < most", &known).unwrap_err();
//! assert_eq!(error.to_string(), "line 1, column 8: there is no `most`; known are `held`, `red`");
//! ```

mod parse;
mod token;

use std::fmt;

/// The longest text of a rule, in bytes.
pub const LONGEST: usize = 4_000;
/// The most parts that a rule may have: what one question may cost.
pub const MOST_PARTS: usize = 500;
/// The deepest nesting of brackets, signs and conditions.
pub const DEEPEST: usize = 50;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Number,
    /// True or false; as a value 1 or 0.
    Truth,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Number => "a number",
            Self::Truth => "true or false",
        })
    }
}

/// A value that a rule may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
}

/// What is wrong with the text of a rule, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for RuleError {}

/// A rule, checked: what it names is known, and numbers stand where numbers belong.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// How many values are known to it.
    known: usize,
    /// What `let` names, in order.
    lets: Vec<Node>,
    root: Node,
}

/// A part of a rule.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    Constant(i64),
    /// A known value, or beyond them what a `let` has named.
    Value(usize),
    Not(Box<Self>),
    Minus(Box<Self>),
    Binary(Operator, Box<[Self; 2]>),
    /// Condition, what holds if it is true, what holds if it is not.
    If(Box<[Self; 3]>),
}

/// What joins two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Plus,
    Minus,
    Times,
    Over,
    Remainder,
    Min,
    Max,
}

impl Rule {
    /// The rule in `text`, over the values of `known`.
    ///
    /// # Errors
    /// What is wrong, and at which line and column.
    pub fn compile(text: &str, known: &[Known]) -> Result<Self, RuleError> {
        parse::rule(text, known)
    }

    /// Whether the rule holds for these values of what is known to it, in that order; truth values are 1 and 0. What `let` names
    /// is put behind them.
    ///
    /// # Panics
    /// If there are fewer values than known names.
    #[must_use]
    pub fn holds(&self, values: &mut Vec<i64>) -> bool {
        values.truncate(self.known);
        assert_eq!(values.len(), self.known, "a value for each known name");
        for named in &self.lets {
            let value = named.value(values);
            values.push(value);
        }
        self.root.value(values) != 0
    }
}

impl Node {
    fn value(&self, values: &[i64]) -> i64 {
        match self {
            Self::Constant(value) => *value,
            Self::Value(place) => values[*place],
            Self::Not(part) => i64::from(part.value(values) == 0),
            Self::Minus(part) => part.value(values).saturating_neg(),
            Self::Binary(operator, parts) => binary(*operator, parts, values),
            Self::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                if condition.value(values) != 0 { then.value(values) } else { otherwise.value(values) }
            }
        }
    }
}

fn binary(operator: Operator, [left, right]: &[Node; 2], values: &[i64]) -> i64 {
    let left = left.value(values);
    // What is decided already is not asked: it has no effect but its cost.
    match operator {
        Operator::Or if left != 0 => return 1,
        Operator::And if left == 0 => return 0,
        _ => {}
    }
    let right = right.value(values);
    match operator {
        Operator::Or | Operator::And => right,
        Operator::Less => i64::from(left < right),
        Operator::LessOrEqual => i64::from(left <= right),
        Operator::Greater => i64::from(left > right),
        Operator::GreaterOrEqual => i64::from(left >= right),
        Operator::Equal => i64::from(left == right),
        Operator::NotEqual => i64::from(left != right),
        Operator::Plus => left.saturating_add(right),
        Operator::Minus => left.saturating_sub(right),
        Operator::Times => left.saturating_mul(right),
        Operator::Over if right == 0 => left.signum().saturating_mul(i64::MAX),
        Operator::Over => left.saturating_div(right),
        Operator::Remainder => left.checked_rem(right).unwrap_or(0),
        Operator::Min => left.min(right),
        Operator::Max => left.max(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Known; 3] = [
        Known { name: "held", kind: Kind::Number },
        Known { name: "most", kind: Kind::Number },
        Known { name: "red", kind: Kind::Truth },
    ];

    fn holds(text: &str) -> bool {
        let rule = Rule::compile(text, &KNOWN).unwrap_or_else(|error| panic!("{text}: {error}"));
        rule.holds(&mut vec![7, 20, 1])
    }

    fn refused(text: &str) -> String {
        Rule::compile(text, &KNOWN).unwrap_err().to_string()
    }

    #[test]
    fn operators_bind_as_everywhere() {
        for text in [
            "1 + 2 * 3 == 7",
            "(1 + 2) * 3 == 9",
            "10 - 2 - 3 == 5",
            "20 / 2 / 5 == 2",
            "7 % 4 == 3 && -7 / 2 == -3",
            "true || false && false",
            "!(true && false)",
            "!red || held < most",
            "- - 3 == 3",
            "1_000 == 1000",
            "min(held, most) == 7 && max(held, most) == 20",
            "held >= 7 && held <= 7 && held != 8 && most > held",
            "red == true // a comment",
        ] {
            assert!(holds(text), "{text}");
        }
    }

    #[test]
    fn conditions_and_names_are_values() {
        assert!(holds(
            "let half = most / 2;\nlet low = half - 5; // 5\nif red { held > low } else { false }"
        ));
        assert!(holds("(if held > most { 1 } else if red { 2 } else { 3 }) == 2"));
        // A name stands for what it stood for when it was given.
        assert!(holds("let a = held; let a = a + 1; a == 8"));
    }

    #[test]
    fn numbers_stop_at_the_largest_and_nothing_divides_by_zero() {
        let largest = i64::MAX;
        for text in [
            format!("{largest} + 1 == {largest}"),
            format!("{largest} * {largest} == {largest}"),
            format!("-{largest} - 5 < -{largest}"),
            format!("(-{largest} - 1) / -1 == {largest}"),
            format!("held / 0 == {largest} && -held / 0 == -{largest} && 0 / 0 == 0"),
            "held % 0 == 0".to_owned(),
            format!("(-{largest} - 1) % -1 == 0"),
        ] {
            assert!(holds(&text), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, message) in [
            (
                "held < mst",
                "line 1, column 8: there is no `mst`; did you mean `most`? known are `held`, `most`, `red`",
            ),
            ("held\n  < red", "line 2, column 5: expected a number, found true or false"),
            ("held", "line 1, column 1: a rule is true or false, found a number"),
            ("held && red", "line 1, column 1: expected true or false, found a number"),
            ("if held { true } else { false }", "line 1, column 4: expected true or false, found a number"),
            (
                "if red { 1 } else { false }",
                "line 1, column 21: expected a number as before `else`, found true or false",
            ),
            ("held < 3 < 5", "line 1, column 10: comparisons do not chain: write `a < b && b < c`"),
            (
                "held < 0.8",
                "line 1, column 8: expected a whole number: write a share as in `10 * occupancy < 8 * capacity`",
            ),
            ("held = 3", "line 1, column 6: `=` names a value after `let`; to compare write `==`"),
            (
                "red and red",
                "line 1, column 5: expected the end of the rule, found `and`; write `&&`, `||`, `!` for and, or, not",
            ),
            ("(held < 3", "line 1, column 10: expected `)`, found the end of the rule"),
            ("", "line 1, column 1: expected a value, found the end of the rule"),
            ("let held < 3; red", "line 1, column 10: expected `=`, found `<`"),
            ("let a = 3", "line 1, column 10: expected `;`, found the end of the rule"),
            ("if red { true }", "line 1, column 16: expected `else`, found the end of the rule"),
            ("sin(held) > 0", "line 1, column 1: there is no function `sin`; there are `min` and `max`"),
            ("while true { }", "line 1, column 1: there are no loops: a rule is one expression"),
            ("red $", "line 1, column 5: `$` means nothing in a rule"),
            ("red & red", "line 1, column 5: `&` means nothing in a rule; write `&&`"),
            ("held < 9999999999999999999", "line 1, column 8: the number is above 9223372036854775807"),
            ("let if = 3; red", "line 1, column 5: expected a name, found `if`"),
        ] {
            assert_eq!(refused(text), message, "{text}");
        }
    }

    #[test]
    fn what_one_question_costs_is_bounded() {
        let nested = |depth: usize| format!("{}red{}", "(".repeat(depth), ")".repeat(depth));
        assert!(Rule::compile(&nested(DEEPEST - 2), &KNOWN).is_ok());
        assert!(refused(&nested(DEEPEST + 1)).ends_with("nested more than 50 deep"));
        assert!(refused(&format!("{}red", "!".repeat(DEEPEST + 1))).ends_with("nested more than 50 deep"));
        let chain = |parts: usize| vec!["1"; parts].join("+") + " > 0";
        assert!(Rule::compile(&chain(MOST_PARTS / 2 - 2), &KNOWN).is_ok());
        assert!(refused(&chain(MOST_PARTS)).ends_with("the rule has more than 500 parts"));
        assert!(refused(&" ".repeat(LONGEST + 1)).ends_with("the rule is longer than 4000 bytes"));
    }

    #[test]
    fn no_text_makes_the_compiler_panic() {
        // Every piece of a rule with everything of it, and pieces of it missing or twice.
        let text =
            "let a = min(held, 3) * -2; // é\nif !red && a <= 0 { held % 2 == 1 } else { red || most > 1_0 }";
        assert!(Rule::compile(text, &KNOWN).is_ok());
        let places: Vec<_> = text.char_indices().map(|(place, _)| place).collect();
        for &from in &places {
            for &to in places.iter().filter(|&&to| to >= from) {
                for changed in [
                    text[from..to].to_owned(),
                    format!("{}{}", &text[..from], &text[to..]),
                    format!("{}{}", &text[..to], &text[from..]),
                ] {
                    if let Ok(rule) = Rule::compile(&changed, &KNOWN) {
                        let _ = rule.holds(&mut vec![i64::MAX, i64::MIN, 0]);
                    }
                }
            }
        }
    }
}
