// What every page does once it is seen: light and dark, parts that refresh, and pieces that a page has of its own.
import { switchTheme } from "./theme.js";
import { startLive } from "./live.js";
import { startForms } from "./forms.js";
import { readCharts } from "./chart.js";
import { startSearch } from "./search.js";
import { startTicks } from "./ticks.js";
import { showPage } from "./pages.js";

showPage();
switchTheme();
startForms();
readCharts();
startSearch();
startTicks();
startLive();
