// What every page does: times in words, light and dark, parts that refresh, and pieces that a page has of its own.
import { showTimes } from "./time.js";
import { switchTheme } from "./theme.js";
import { startLive } from "./live.js";
import { startForms } from "./forms.js";
import { readCharts } from "./chart.js";
import { startSearch } from "./search.js";
import { startTicks } from "./ticks.js";

showTimes(document);
switchTheme();
startForms();
readCharts();
startSearch();
startTicks();
startLive();
