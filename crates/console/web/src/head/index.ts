// What runs before the first paint. Loaded by itself, ahead of the modules.

import { preloadPage } from './preload';
import { applyTheme } from './theme';

applyTheme();
preloadPage();
