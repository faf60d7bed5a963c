#!/usr/bin/env bash
dl_if=ifb4wwan0 # download interface
ul_if=wwan0
adjust_dl_shaper_rate=1
adjust_ul_shaper_rate=1
min_dl_shaper_rate_kbps=10000  # minimum
base_dl_shaper_rate_kbps=60000
max_dl_shaper_rate_kbps=250000
min_ul_shaper_rate_kbps=2000
base_ul_shaper_rate_kbps=15000
max_ul_shaper_rate_kbps=40000
