import { type Composer, entryFor } from '../composer.js';
import type { Section } from '../document.js';
import { callout, paragraph, section } from '../nodes.js';
import { debtCallout, numberCard } from './numbers.js';

export const path = (composer: Composer): Section => {
  const { result, catalog, say, plain, number } = composer;
  const { path: frame } = catalog.frames;
  const { lifePath, birthday } = result.numbers;
  const prose = entryFor(catalog['life-path'], lifePath.value);
  return section(
    'path',
    'path',
    plain(frame.title),
    [
      ...numberCard(composer, 'path', 'lifePath'),
      paragraph('path.lead', say(prose.lead), 'lead'),
      paragraph('path.drive', say(prose.drive)),
      paragraph('path.cost', say(prose.cost)),
      ...debtCallout(composer, 'path', 'lifePath'),
      callout('path.question', 'question', plain(frame.questionTitle), say(prose.question)),
      ...prose.more.map(({ title, text }, index) =>
        section(`path.more-${index + 1}`, 'subsection', plain(title), [
          paragraph(`path.more-${index + 1}.text`, say(text)),
        ]),
      ),
      section(
        'path.day',
        'subsection',
        plain(frame.dayTitle),
        [
          paragraph(
            'path.day.intro',
            say(frame.dayIntro, { day: String(birthday.day), number: number('birthday') }),
          ),
          paragraph('path.day.text', say(entryFor(catalog.birthday, birthday.value))),
          ...debtCallout(composer, 'path.day', 'birthday'),
        ],
        ['numbers.birthday'],
      ),
    ],
    ['numbers.lifePath'],
  );
};
