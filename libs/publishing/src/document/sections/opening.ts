import { isBeyond, isForParents, isYoung } from '../facts.js';
import type { Composer } from '../composer.js';
import type { Section } from '../document.js';
import { callout, paragraph, section } from '../nodes.js';

export const opening = ({ result, name, say, plain, date }: Composer): Section => {
  const values = { name, date: date(result.subject.dateOfBirth) };
  return section('opening', 'opening', plain('frames/opening title'), [
    paragraph('opening.greeting', say('frames/opening greeting', values), 'lead'),
    paragraph('opening.use', say('frames/opening use')),
    ...(isYoung(result) && !isForParents(result)
      ? [paragraph('opening.young', say('frames/opening young'))]
      : []),
    ...(isBeyond(result) ? [paragraph('opening.beyond', say('frames/opening beyond'))] : []),
    callout(
      'opening.notice',
      'disclaimer',
      plain('frames/opening noticeTitle'),
      say('frames/opening notice'),
    ),
  ]);
};

export const closingNotice = ({ say, plain }: Composer): Section =>
  section('notice', 'notice', plain('frames/opening closingTitle'), [
    paragraph('notice.text', say('frames/opening notice'), 'note'),
  ]);
