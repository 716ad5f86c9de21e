import { expect, it } from '@jest/globals';
import { portalStep } from './banner.js';
import type { RunningStack } from './stack.js';

it('The command for another link names the workspace and the data folder, so that it works as pasted', () => {
  const { folder } = { folder: { path: "/srv/ada's data" } } as RunningStack;
  const printed = portalStep(
    { folder },
    { workspaceId: 'ws_1', url: 'http://127.0.0.1:3000/portal/enter/t' },
  );
  expect(printed).toContain(
    "\n  DATA_DIR='/srv/ada'\\''s data' npm run -s ops -- portal link --workspace ws_1\n",
  );
});
