//! Every published absolute time is met exactly, and experiments repeat.

#[test]
fn published_absolute_times_are_exact() {
    let mut checked = 0;
    for paper in corecast_papers::PAPERS {
        let rows = corecast_papers::reproduce(paper.name).expect("runs");
        assert_eq!(rows, corecast_papers::reproduce(paper.name).expect("runs"));
        for row in &rows {
            let is_absolute = matches!(row.unit, "ns" | "cycles" | "holds");
            if let Some(published) = row.published.filter(|_| is_absolute) {
                assert_eq!(row.ours, published, "{row:?}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 20, "{checked} rows");
}

#[test]
fn unknown_papers_are_refused_with_the_list() {
    let error = corecast_papers::reproduce("park2018").expect_err("no such paper");
    assert_eq!(
        error.to_string(),
        "unknown paper `park2018`; there are: chung2011, park2019"
    );
}
