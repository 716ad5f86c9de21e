import { Findings, LOOK_SOON, RunPart } from '../parts.js';
import type { ConsolePage } from '../visit.js';

export const doctorPage: ConsolePage = {
  area: 'doctor',
  show: async (visit) => {
    const { words, looks } = visit;
    return {
      title: words.areas.doctor,
      refreshSeconds: looks.doctor.state.is === 'running' ? LOOK_SOON : undefined,
      body: (
        <RunPart visit={visit} run={looks.doctor} action="examine" submit={words.examine}>
          {(found) => (
            <Findings visit={visit} caption={words.findings} of={found} empty={words.allVerified} />
          )}
        </RunPart>
      ),
    };
  },
  actions: {
    examine: async ({ looks }) => {
      looks.doctor.start();
      return null;
    },
  },
};
