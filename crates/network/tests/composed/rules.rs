//! Rules for `policy = "script"`, at random over the whole language.

use celltrain_atm::{buffer::script::KNOWN, rule::Kind};

use crate::draw::Draw;

/// A rule that compiles. Most depend on the occupancy, so that some frames are admitted and others refused.
pub(crate) fn rule(draw: &mut Draw) -> String {
    let depth = draw.whole(1, 4);
    let mut text = String::new();
    let named = draw.whole(0, 2);
    for number in 0..named {
        let part = expression(draw, Kind::Number, depth, number);
        text.push_str(&format!("let part{number} = {part};\n"));
    }
    let condition = expression(draw, Kind::Truth, depth, named);
    match draw.whole(0, 3) {
        0 => text.push_str(&condition),
        1 => text.push_str(&format!("{condition} || occupancy < low")),
        _ => text.push_str(&format!("occupancy < high && ({condition} || vc_occupancy < low)")),
    }
    text
}

/// An expression of a kind, nested no deeper than `depth`, which may name the numbers `part0`, … that were said before.
fn expression(draw: &mut Draw, kind: Kind, depth: u64, named: u64) -> String {
    if depth == 0 {
        return atom(draw, kind, named);
    }
    let inner = |draw: &mut Draw, kind| expression(draw, kind, depth - 1, named);
    if draw.chance(0.15) {
        let [condition, one, other] = [Kind::Truth, kind, kind].map(|kind| inner(draw, kind));
        return format!("if {condition} {{ {one} }} else {{ {other} }}");
    }
    match kind {
        Kind::Number => {
            let [one, other] = [inner(draw, kind), inner(draw, kind)];
            match draw.whole(0, 3) {
                0 => atom(draw, kind, named),
                1 => format!("{}({one}, {other})", draw.pick(&["min", "max"])),
                2 => format!("-({one})"),
                _ => format!("({one} {} {other})", draw.pick(&["+", "-", "*", "/", "%"])),
            }
        }
        Kind::Truth => match draw.whole(0, 4) {
            0 => atom(draw, kind, named),
            1 => format!("!({})", inner(draw, kind)),
            2 => {
                let [one, other] = [inner(draw, kind), inner(draw, kind)];
                format!("({one} {} {other})", draw.pick(&["&&", "||"]))
            }
            _ => {
                let [one, other] = [inner(draw, Kind::Number), inner(draw, Kind::Number)];
                format!("({one} {} {other})", draw.pick(&["<", "<=", ">", ">=", "==", "!="]))
            }
        },
    }
}

fn atom(draw: &mut Draw, kind: Kind, named: u64) -> String {
    match kind {
        Kind::Number if draw.chance(0.25) => draw.whole(0, 200).to_string(),
        Kind::Number if named > 0 && draw.chance(0.2) => format!("part{}", draw.whole(0, named - 1)),
        Kind::Truth if draw.chance(0.15) => draw.chance(0.5).to_string(),
        _ => {
            let known: Vec<_> = KNOWN.iter().filter(|known| known.kind == kind).collect();
            draw.pick(&known).name.to_owned()
        }
    }
}
