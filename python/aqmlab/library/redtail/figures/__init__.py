"""The figures and tables of the RED+Tail paper in its order, then ours."""

from aqmlab.library.redtail.figures import future, model, short_queue, small_files, thresholds, transfers, web

ITEMS = (
    web.FIGURE_1,
    transfers.FIGURE_2,
    transfers.TABLE_1,
    web.FIGURE_4,
    web.FIGURE_5,
    web.FIGURE_6,
    web.FIGURE_7,
    web.FIGURE_8,
    web.TABLE_3,
    small_files.FIGURE_9,
    thresholds.FIGURE_10,
    thresholds.FIGURE_11,
    thresholds.FIGURE_12,
    thresholds.FIGURE_13,
    thresholds.FIGURE_14,
    thresholds.TABLE_4,
    short_queue.FIGURE_16,
    model.FIGURE_17,
    model.FIGURE_18,
    model.FIGURE_19,
    model.FIGURE_20,
    model.FIGURE_21,
    model.FIGURE_21_FIXED,
    web.TABLE_3_LATER,
    future.PREDICTION_FIGURE,
    future.FORECAST_FIGURE,
)
