//! Series as an Arrow file, which any library for data frames reads.

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use run::Column;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Writes columns of the same length; null where they are NaN.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, columns: Vec<Column>) -> io::Result<()> {
    let arrays = columns.into_iter().map(|column| {
        let defined = column.values.iter().map(|value| (!value.is_nan()).then_some(*value));
        let array: ArrayRef = Arc::new(Float64Array::from_iter(defined));
        (column.name, array)
    });
    let batch = RecordBatch::try_from_iter(arrays).map_err(io::Error::other)?;
    let mut writer = FileWriter::try_new(File::create(path)?, &batch.schema()).map_err(io::Error::other)?;
    writer.write(&batch).and_then(|()| writer.finish()).map_err(io::Error::other)
}
