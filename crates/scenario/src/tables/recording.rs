//! Recordings in CSV (RFC 4180): a header with a column of times, and a line for each time.

mod clock;

use aqm::unit::in_base_unit;
use clock::Clock;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use std::borrow::Cow;

/// The separators between fields. If several divide the header equally often, the last one counts.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// First words of the name of a column of times, whatever follows.
const TIMES: [&str; 6] = ["time", "timestamp", "epoch", "elapsed", "date", "datetime"];

/// Names of a column of times, which only a unit may follow: `s_id` and `t_air` are something else.
const SHORT_TIMES: [&str; 4] = ["t", "s", "sec", "seconds"];

/// A recording in CSV.
pub(super) struct Csv<'a> {
    pub(super) header: Header,
    /// The lines below the header.
    lines: Vec<(usize, &'a str)>,
}

/// The names of the columns.
#[derive(Default)]
pub(super) struct Header {
    pub(super) names: Vec<String>,
    pub(super) line: usize,
    separator: u8,
    /// The column of times.
    pub(super) time: usize,
}

/// A time in a recording, and the value in the column that is read.
pub(super) struct Reading {
    pub(super) line: usize,
    /// By the recording's clock.
    pub(super) nanos: i128,
    /// The time as the recording has it.
    pub(super) time: String,
    pub(super) value: String,
}

/// The text of a recording with a line feed after each line, whatever its encoding and its ends of lines.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let words = |order: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes[2..].chunks(2).map(|two| order([two[0], *two.get(1).unwrap_or(&0)])).collect()
    };
    let text = match bytes {
        [0xff, 0xfe, ..] => Cow::Owned(String::from_utf16(&words(u16::from_le_bytes)).ok()?),
        [0xfe, 0xff, ..] => Cow::Owned(String::from_utf16(&words(u16::from_be_bytes)).ok()?),
        _ => Cow::Borrowed(str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).ok()?),
    };
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    (!lines.contains('\0')).then(|| lines + "\n")
}

/// The lines with something in them, and their numbers.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.split_inclusive('\n')).filter(|(_, line)| !line.trim().is_empty())
}

/// Whether a line is a comment.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Divides lines into their fields.
struct Fields {
    csv: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Fields {
    fn new(separator: u8) -> Self {
        let csv = ReaderBuilder::new().delimiter(separator).build();
        Self { csv, text: Vec::new(), ends: Vec::new() }
    }

    /// The fields of a line with its line feed; `None` if a quoted field does not end in it.
    fn of(&mut self, line: &str) -> Option<Vec<&str>> {
        self.csv.reset();
        self.text.resize(line.len(), 0);
        self.ends.resize(line.len() + 1, 0);
        let (found, _, _, count) = self.csv.read_record(line.as_bytes(), &mut self.text, &mut self.ends);
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let field = |(start, end): (usize, &usize)| str::from_utf8(&self.text[start..*end]).map(str::trim);
        let fields = starts.zip(&self.ends[..count]).map(field);
        (found == ReadRecordResult::Record).then(|| fields.collect::<Result<_, _>>().ok()).flatten()
    }
}

impl Header {
    /// The names in a line, if there is a column of times.
    fn of(line: usize, text: &str) -> Option<Self> {
        let divided = |separator| Some((Fields::new(separator).of(text)?.len(), separator));
        let (_, separator) = SEPARATORS.into_iter().filter_map(divided).max_by_key(|(count, _)| *count)?;
        let names: Vec<String> = Fields::new(separator).of(text)?.into_iter().map(str::to_owned).collect();
        let whole = |name: &String| {
            let first = first_word(name);
            let plain = match words(name).count() {
                1 => true,
                2 => unit(name, "s").is_some(),
                _ => false,
            };
            plain && (TIMES.contains(&&*first) || SHORT_TIMES.contains(&&*first))
        };
        let begins = |name: &String| TIMES.contains(&&*first_word(name));
        let time = names.iter().position(whole).or_else(|| names.iter().position(begins))?;
        Some(Self { names, line, separator, time })
    }
}

impl<'a> Csv<'a> {
    /// Finds the header: the first line, or a comment above it.
    pub(super) fn open(text: &'a str) -> Option<Self> {
        let mut all = lines(text).peekable();
        let mut above = None;
        while let Some(comment) = all.next_if(|(_, line)| is_comment(line)) {
            above = Some(comment);
        }
        let &(number, first) = all.peek()?;
        let header = match Header::of(number, first) {
            Some(header) => {
                all.next();
                header
            }
            None => {
                above.and_then(|(number, line)| Header::of(number, line.trim_start_matches([' ', '#'])))?
            }
        };
        Some(Self { header, lines: all.filter(|(_, line)| !is_comment(line)).collect() })
    }

    /// The lines of a recording without a header, whose columns have the names 1, 2 and so on; the times are in the first.
    pub(super) fn bare(text: &'a str) -> Option<Self> {
        let all: Vec<_> = lines(text).filter(|(_, line)| !is_comment(line)).collect();
        let &(line, first) = all.first()?;
        let divided = SEPARATORS.into_iter().filter_map(|separator| {
            let fields = Fields::new(separator).of(first)?.len();
            Some((fields, separator)).filter(|(fields, _)| *fields > 1)
        });
        let (count, separator) = divided.max_by_key(|(count, _)| *count)?;
        let mut fields = Fields::new(separator);
        let cells = fields.of(first)?;
        let is_bare = Clock::new(None).nanos(cells[0]).is_ok()
            && cells[1..].iter().any(|cell| cell.parse::<f64>().is_ok());
        let names = (1..=count).map(|number| number.to_string()).collect();
        is_bare.then_some(Self { header: Header { names, line, separator, time: 0 }, lines: all })
    }

    /// The times and the values of a column.
    pub(super) fn readings(&self, column: usize) -> impl Iterator<Item = Result<Reading, String>> {
        let Header { names, separator, time, .. } = &self.header;
        let mut fields = Fields::new(*separator);
        let mut clock = Clock::new(unit(&names[*time], "s"));
        self.lines.iter().map(move |&(line, text)| {
            let cells = fields.of(text).ok_or_else(|| {
                format!("line {line}: a quoted field does not end in it: add the quote, or remove the line break")
            })?;
            if cells.len() < names.len() {
                return Err(format!(
                    "line {line}: only {} of the header's {} fields: complete the line, or remove it if it is torn",
                    cells.len(),
                    names.len()
                ));
            }
            if cells.len() > names.len() {
                return Err(format!(
                    "line {line}: {} fields, and the header has {}: put fields with separators in quotes",
                    cells.len(),
                    names.len()
                ));
            }
            let shown = cells[*time];
            let nanos = clock.nanos(shown).map_err(|must| {
                format!("line {line}: {} = {shown:?}: {must}", names[*time])
            })?;
            Ok(Reading { line, nanos, time: shown.to_owned(), value: cells[column].to_owned() })
        })
    }
}

/// The words in a column's name.
fn words(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric() && c != '/').filter(|word| !word.is_empty())
}

/// The first word in a column's name, in lower case.
pub(super) fn first_word(name: &str) -> String {
    words(name).next().unwrap_or_default().to_ascii_lowercase()
}

/// What the unit at the end of a column's name is in the base unit `base`.
pub(super) fn unit(name: &str, base: &str) -> Option<f64> {
    let last = words(name).next_back()?;
    in_base_unit(&format!("1 {last}")).filter(|(_, unit)| *unit == base).map(|(factor, _)| factor)
}
