// The path that docs/first-steps.md describes.

import { walkFirstSteps } from '../first-steps.mjs';

export default [
  {
    name: 'a newcomer makes an app that keeps webhook calls as rows, by clicking',
    run: async ({ browser, base }) => {
      const context = await browser.newContext({ baseURL: base, locale: 'en-GB' });
      await walkFirstSteps({ page: await context.newPage(), base });
      await context.close();
    },
  },
];
