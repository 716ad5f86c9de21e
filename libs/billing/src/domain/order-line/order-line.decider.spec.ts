import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import { orderLine } from './order-line.decider.js';

const claim = (workspaceId: string) =>
  ({
    type: 'OrderLineClaimed',
    data: { orderRef: 'INV-7', pack: 'flex', workspaceId, grantId: 'pack:INV-7:flex' },
  }) as const;

describe('an order line', () => {
  it('belongs to the first workspace that claims it', () => {
    given(orderLine, []).when(claim('ws_1')).then(claim('ws_1'));
    given(orderLine, [claim('ws_1')])
      .when(claim('ws_1'))
      .thenIgnores('AlreadyClaimed');
    given(orderLine, [claim('ws_1')])
      .when(claim('ws_2'))
      .thenRejects('ClaimedByOther', claim('ws_1').data);
  });
});
