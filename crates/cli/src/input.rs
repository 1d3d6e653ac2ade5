//! Text files that users name.

use std::fs::File;
use std::io::Read as _;

/// The text of a file of at most `most` bytes, or why it cannot be had. Devices without an end are
/// not read beyond that.
pub fn text_file(path: &str, most: u64) -> Result<String, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    let read = file.take(most + 1).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 > most {
        return Err(format!("it is larger than {} MiB", most >> 20));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::text_file;

    #[test]
    fn files_have_an_end() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(&file, "12345").expect("written");
        let path = file.path().to_str().expect("UTF-8");
        assert_eq!(text_file(path, 5), Ok("12345".to_owned()));
        assert!(text_file(path, 4).is_err());
        assert!(text_file("/no/such/file", 4).is_err());
        if std::path::Path::new("/dev/zero").exists() {
            let refused = text_file("/dev/zero", 1 << 20);
            assert_eq!(refused, Err("it is larger than 1 MiB".to_owned()));
        }
    }
}
