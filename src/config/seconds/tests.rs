//! Tests of `config::seconds`.

use super::*;

#[test]
fn a_time_is_a_second_to_ten_years_and_moves_a_clock_on() {
    let read = |written: &str| written.parse::<SettingSeconds>();
    assert_eq!((read("1"), read("315360000")), (Ok(SettingSeconds(1)), Ok(SettingSeconds(MOST))));
    for wrong in ["0", "-1", "1.5", "315360001", "99999999999999", "9223372036854775807", "18446744073709551615", "day", ""] {
        assert_eq!(read(wrong), Err(SettingSeconds::EXPECTED), "{wrong}");
    }
    assert!(SettingSeconds::EXPECTED.contains(&MOST.to_string()));
    let longest = SettingSeconds(MOST);
    let latest = chrono::NaiveDate::from_ymd_opt(9999, 12, 31).unwrap().and_time(chrono::NaiveTime::MIN).and_utc();
    assert!(latest.checked_add_signed(TimeDelta::from(longest)).is_some());
    assert_eq!(TimeDelta::from_std(longest.into()), Ok(TimeDelta::from(longest)));
}
