//! Series as a table in CSV, which any library for data frames reads.

use run::Column;
use std::io;
use std::path::Path;

/// Writes columns of the same length, with every digit that distinguishes a number; nothing where they are NaN.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, columns: &[Column]) -> io::Result<()> {
    debug_assert!(columns.windows(2).all(|pair| pair[0].values.len() == pair[1].values.len()));
    let mut table = csv::Writer::from_path(path)?;
    table.write_record(columns.iter().map(|column| &column.name))?;
    for row in 0..columns.first().map_or(0, |column| column.values.len()) {
        let written = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        table.write_record(columns.iter().map(|column| written(column.values[row])))?;
    }
    table.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_nan_is_empty() {
        let path = std::env::temp_dir().join(format!("aqmlab-table-{}.csv", std::process::id()));
        let column = |name: &str, values: &[f64]| Column { name: name.into(), values: values.into() };
        let columns = [column("t", &[0.0, 0.1]), column("a,b.throughput", &[f64::NAN, 1.0 / 3.0])];
        write(&path, &columns).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "t,\"a,b.throughput\"\n0,\n0.1,0.3333333333333333\n");
    }
}
