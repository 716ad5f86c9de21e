import { Section } from '../../../../portal/src/frame/parts.js';
import { Findings, LOOK_AGAIN, Shows } from '../parts.js';
import { part, type ConsolePage } from '../visit.js';

export const overviewPage: ConsolePage = {
  area: 'overview',
  show: async (visit) => {
    const { words, looks, formats } = visit;
    const found = await part(visit, looks.troubles);
    return {
      title: words.areas.overview,
      refreshSeconds: LOOK_AGAIN,
      body: (
        <Section title={words.attention}>
          <Shows of={found}>
            {(findings) => (
              <Findings
                visit={visit}
                caption={words.attention}
                of={findings.filter(({ level }) => level !== 'ok')}
                empty={words.allWell(formats.number(findings.length))}
              />
            )}
          </Shows>
        </Section>
      ),
    };
  },
};
