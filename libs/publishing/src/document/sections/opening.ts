import { type Composer, isBeyond, isYoung } from '../composer.js';
import type { Section } from '../document.js';
import { callout, paragraph, section } from '../nodes.js';

export const opening = ({ result, catalog, say, plain, date }: Composer): Section => {
  const { opening: frame, notice } = catalog.frames;
  const { displayName, dateOfBirth } = result.subject;
  return section('opening', 'opening', plain(frame.title), [
    paragraph(
      'opening.greeting',
      say(frame.greeting, { name: displayName, date: date(dateOfBirth) }),
      'lead',
    ),
    paragraph('opening.use', say(frame.use)),
    ...(isYoung(result) ? [paragraph('opening.young', say(frame.young))] : []),
    ...(isBeyond(result) ? [paragraph('opening.beyond', say(frame.beyond))] : []),
    callout('opening.notice', 'disclaimer', plain(frame.noticeTitle), say(notice.text)),
  ]);
};

export const closingNotice = ({ catalog, say, plain }: Composer): Section => {
  const { notice } = catalog.frames;
  return section('notice', 'notice', plain(notice.title), [
    paragraph('notice.text', say(notice.text), 'note'),
  ]);
};
