//! From the text of a rule to its parts, and whether they fit together.

use celltrain_engine::names::nearest;

use super::{
    DEEPEST, Kind, Known, LONGEST, MOST_PARTS, Node, Operator, Rule, RuleError,
    token::{Piece, Token, error_at, tokens},
};

/// Words that cannot be names.
const WORDS: [&str; 7] = ["let", "if", "else", "true", "false", "min", "max"];
/// Words of other languages.
const LOOPS: [&str; 5] = ["while", "for", "loop", "do", "repeat"];

/// A part, what its value is, and where it begins.
struct Part {
    node: Node,
    kind: Kind,
    at: usize,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    next: usize,
    /// What can be named: what is known, and what has been named since.
    names: Vec<(&'a str, Kind)>,
    parts: usize,
    depth: usize,
}

type Parsed<T = Part> = Result<T, RuleError>;

pub(super) fn rule(text: &str, known: &[Known]) -> Parsed<Rule> {
    if text.len() > LONGEST {
        return Err(error_at(text, 0, format!("the rule is longer than {LONGEST} bytes")));
    }
    let names = known.iter().map(|known| (known.name, known.kind)).collect();
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, names, parts: 0, depth: 0 };
    let mut lets = Vec::new();
    while parser.takes(Piece::Word("let")) {
        lets.push(parser.named()?);
    }
    let root = parser.expression()?;
    parser.end()?;
    if root.kind != Kind::Truth {
        return Err(error_at(text, root.at, format!("a rule is true or false, found {}", root.kind)));
    }
    Ok(Rule { known: known.len(), lets, root: root.node })
}

impl<'a> Parser<'a> {
    fn token(&self) -> Token<'a> {
        self.tokens[self.next]
    }

    fn advance(&mut self) -> Token<'a> {
        let token = self.token();
        // The last token is the end, which stays.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn takes(&mut self, piece: Piece<'_>) -> bool {
        let takes = self.token().piece == piece;
        if takes {
            self.advance();
        }
        takes
    }

    fn expect(&mut self, piece: Piece<'_>, text: &str) -> Parsed<()> {
        if self.takes(piece) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    fn sign(&mut self, sign: &str) -> Parsed<()> {
        self.expect(Piece::Sign(sign), sign)
    }

    fn expected(&self, what: &str) -> RuleError {
        let token = self.token();
        error_at(self.text, token.at, format!("expected {what}, found {}", token.found()))
    }

    fn end(&self) -> Parsed<()> {
        match self.token().piece {
            Piece::End => Ok(()),
            Piece::Sign("=") => {
                let message = "`=` names a value after `let`; to compare write `==`";
                Err(error_at(self.text, self.token().at, message))
            }
            Piece::Word("and" | "or" | "not") => {
                let mut error = self.expected("the end of the rule");
                error.message += "; write `&&`, `||`, `!` for and, or, not";
                Err(error)
            }
            _ => Err(self.expected("the end of the rule")),
        }
    }

    /// `name = expression ;`
    fn named(&mut self) -> Parsed<Node> {
        let Token { piece: Piece::Word(name), at } = self.token() else {
            return Err(self.expected("a name"));
        };
        if WORDS.contains(&name) {
            return Err(error_at(self.text, at, format!("expected a name, found `{name}`")));
        }
        self.advance();
        self.sign("=")?;
        let part = self.expression()?;
        self.sign(";")?;
        self.names.push((name, part.kind));
        Ok(part.node)
    }

    /// Counts a part, so that a rule stays small.
    fn part(&mut self, node: Node, kind: Kind, at: usize) -> Parsed {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(error_at(self.text, at, format!("the rule has more than {MOST_PARTS} parts")));
        }
        Ok(Part { node, kind, at })
    }

    /// What `parse` finds one level deeper.
    fn deeper(&mut self, parse: fn(&mut Self) -> Parsed) -> Parsed {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(error_at(self.text, self.token().at, format!("nested more than {DEEPEST} deep")));
        }
        let part = parse(self);
        self.depth -= 1;
        part
    }

    /// The node of a part of the kind that is needed.
    fn of(&self, part: Part, kind: Kind) -> Parsed<Node> {
        if part.kind == kind {
            return Ok(part.node);
        }
        Err(error_at(self.text, part.at, format!("expected {kind}, found {}", part.kind)))
    }

    fn expression(&mut self) -> Parsed {
        if self.token().piece == Piece::Word("if") { self.deeper(Self::condition) } else { self.or() }
    }

    fn condition(&mut self) -> Parsed {
        let at = self.advance().at;
        let condition = self.expression()?;
        let condition = self.of(condition, Kind::Truth)?;
        let then = self.block()?;
        self.expect(Piece::Word("else"), "else")?;
        let otherwise = if self.token().piece == Piece::Word("if") {
            self.deeper(Self::condition)?
        } else {
            self.block()?
        };
        if otherwise.kind != then.kind {
            let message = format!("expected {} as before `else`, found {}", then.kind, otherwise.kind);
            return Err(error_at(self.text, otherwise.at, message));
        }
        let kind = then.kind;
        self.part(Node::If(Box::new([condition, then.node, otherwise.node])), kind, at)
    }

    fn block(&mut self) -> Parsed {
        self.sign("{")?;
        let part = self.deeper(Self::expression)?;
        self.sign("}")?;
        Ok(part)
    }

    /// A chain of operators that bind alike, from left to right.
    fn chain(
        &mut self,
        operator: fn(Piece<'_>) -> Option<Operator>,
        kind: Kind,
        inner: fn(&mut Self) -> Parsed,
    ) -> Parsed {
        let mut left = inner(self)?;
        while let Some(operator) = operator(self.token().piece) {
            self.advance();
            let at = left.at;
            let right = inner(self)?;
            let parts = [self.of(left, kind)?, self.of(right, kind)?];
            left = self.part(Node::Binary(operator, Box::new(parts)), kind, at)?;
        }
        Ok(left)
    }

    fn or(&mut self) -> Parsed {
        self.chain(|piece| (piece == Piece::Sign("||")).then_some(Operator::Or), Kind::Truth, Self::and)
    }

    fn and(&mut self) -> Parsed {
        self.chain(
            |piece| (piece == Piece::Sign("&&")).then_some(Operator::And),
            Kind::Truth,
            Self::comparison,
        )
    }

    fn comparison(&mut self) -> Parsed {
        let left = self.sum()?;
        let Some(operator) = comparison(self.token().piece) else { return Ok(left) };
        self.advance();
        let right = self.sum()?;
        if comparison(self.token().piece).is_some() {
            let message = "comparisons do not chain: write `a < b && b < c`";
            return Err(error_at(self.text, self.token().at, message));
        }
        let at = left.at;
        // Truth values can be equal; only numbers are less or more.
        let equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        let kind = if equality { left.kind } else { Kind::Number };
        let parts = [self.of(left, kind)?, self.of(right, kind)?];
        self.part(Node::Binary(operator, Box::new(parts)), Kind::Truth, at)
    }

    fn sum(&mut self) -> Parsed {
        self.chain(additive, Kind::Number, Self::product)
    }

    fn product(&mut self) -> Parsed {
        self.chain(multiplicative, Kind::Number, Self::unary)
    }

    fn unary(&mut self) -> Parsed {
        let (node, kind): (fn(Box<Node>) -> Node, _) = match self.token().piece {
            Piece::Sign("!") => (Node::Not, Kind::Truth),
            Piece::Sign("-") => (Node::Minus, Kind::Number),
            _ => return self.atom(),
        };
        let at = self.advance().at;
        let part = self.deeper(Self::unary)?;
        let part = self.of(part, kind)?;
        self.part(node(Box::new(part)), kind, at)
    }

    fn atom(&mut self) -> Parsed {
        let Token { piece, at } = self.token();
        match piece {
            Piece::Number(number) => {
                self.advance();
                self.part(Node::Constant(number), Kind::Number, at)
            }
            Piece::Sign("(") => {
                self.advance();
                let part = self.deeper(Self::expression)?;
                self.sign(")")?;
                Ok(Part { at, ..part })
            }
            Piece::Word(word @ ("true" | "false")) => {
                self.advance();
                self.part(Node::Constant(i64::from(word == "true")), Kind::Truth, at)
            }
            Piece::Word("if" | "else" | "let") => Err(self.expected("a value")),
            Piece::Word("min") => self.pair(Operator::Min),
            Piece::Word("max") => self.pair(Operator::Max),
            Piece::Word(name) => self.name(name, at),
            Piece::Sign(_) | Piece::End => Err(self.expected("a value")),
        }
    }

    /// `min(a, b)`
    fn pair(&mut self, operator: Operator) -> Parsed {
        let at = self.advance().at;
        self.sign("(")?;
        let left = self.deeper(Self::expression)?;
        self.sign(",")?;
        let right = self.deeper(Self::expression)?;
        self.sign(")")?;
        let parts = [self.of(left, Kind::Number)?, self.of(right, Kind::Number)?];
        self.part(Node::Binary(operator, Box::new(parts)), Kind::Number, at)
    }

    fn name(&mut self, name: &'a str, at: usize) -> Parsed {
        self.advance();
        if let Some(place) = self.names.iter().rposition(|(other, _)| *other == name) {
            let kind = self.names[place].1;
            return self.part(Node::Value(place), kind, at);
        }
        let message = if LOOPS.contains(&name) {
            "there are no loops: a rule is one expression".to_owned()
        } else if self.token().piece == Piece::Sign("(") {
            format!("there is no function `{name}`; there are `min` and `max`")
        } else {
            let known: Vec<_> = self.names.iter().map(|(name, _)| format!("`{name}`")).collect();
            let near = nearest(name, self.names.iter().map(|(name, _)| *name));
            let meant = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            format!("there is no `{name}`; {meant}known are {}", known.join(", "))
        };
        Err(error_at(self.text, at, message))
    }
}

fn additive(piece: Piece<'_>) -> Option<Operator> {
    match piece {
        Piece::Sign("+") => Some(Operator::Plus),
        Piece::Sign("-") => Some(Operator::Minus),
        _ => None,
    }
}

fn multiplicative(piece: Piece<'_>) -> Option<Operator> {
    match piece {
        Piece::Sign("*") => Some(Operator::Times),
        Piece::Sign("/") => Some(Operator::Over),
        Piece::Sign("%") => Some(Operator::Remainder),
        _ => None,
    }
}

fn comparison(piece: Piece<'_>) -> Option<Operator> {
    let Piece::Sign(sign) = piece else { return None };
    Some(match sign {
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        "==" => Operator::Equal,
        "!=" => Operator::NotEqual,
        _ => return None,
    })
}
