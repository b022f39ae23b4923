//! Names that are mistyped.

/// The valid name that `name` most probably stands for, if any is near.
#[must_use]
pub fn nearest<'a>(name: &str, valid: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    // A third of the letters may be wrong; a long text is no mistyped name and would be slow to compare.
    let limit = (name.chars().count() / 3).max(1);
    if limit > 20 {
        return None;
    }
    // A name is often cut down to its noun: "window" for "receive-window".
    let is_noun_of =
        |candidate: &&str| candidate.strip_suffix(name).is_some_and(|before| before.ends_with('-'));
    // Capitals matter only between names that are equally near: "epd" is known as EPD.
    let small = name.to_lowercase();
    let distances =
        |candidate: &str| (edit_distance(&small, &candidate.to_lowercase()), edit_distance(name, candidate));
    valid
        .clone()
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 4 * limit)
        .map(|candidate| (distances(candidate), candidate))
        .filter(|((distance, _), _)| *distance <= limit)
        .min_by_key(|(distances, _)| *distances)
        .map(|(_, candidate)| candidate)
        .or_else(|| valid.clone().find(|candidate| has_same_words(name, candidate)))
        .or_else(|| valid.clone().find(is_noun_of))
}

/// Whether two names have the same words in another order, as "drop-tail" and "tail-drop".
fn has_same_words(a: &str, b: &str) -> bool {
    let words = |name: &str| {
        let mut words: Vec<_> = name.split(['-', '_', ' ']).map(str::to_lowercase).collect();
        words.sort_unstable();
        words
    };
    a.len() == b.len() && words(a) == words(b)
}

/// Letters to insert, delete, replace or swap with their neighbour to make `b` of `a` (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{edit_distance, nearest};

    #[test]
    fn distances_count_letters_and_swaps() {
        assert_eq!(edit_distance("high", "high"), 0);
        assert_eq!(edit_distance("hihg", "high"), 1);
        assert_eq!(edit_distance("", "low"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_near_names_are_suggested() {
        assert_eq!(nearest("thresold", ["threshold", "end-marks"].into_iter()), Some("threshold"));
        assert_eq!(nearest("marks", ["threshold", "end-marks"].into_iter()), Some("end-marks"));
        assert_eq!(nearest("drop-tail", ["tail-drop", "ppd"].into_iter()), Some("tail-drop"));
        assert_eq!(nearest("Drop_tail", ["tail", "tail-drop"].into_iter()), Some("tail-drop"));
        assert_eq!(nearest("drop-liat", ["tail-drop"].into_iter()), None);
        assert_eq!(nearest("colour", ["threshold", "end-marks"].into_iter()), None);
        assert_eq!(nearest("CBR", ["bursty", "cbr"].into_iter()), Some("cbr"));
        assert_eq!(nearest("hostA", ["hosta", "HostA", "hostB"].into_iter()), Some("hosta"));
        assert_eq!(nearest("HOSTB", ["hosta", "hostB"].into_iter()), Some("hostB"));
        assert_eq!(nearest(&"x".repeat(1 << 20), ["threshold"].into_iter()), None);
    }
}
