import type { PortalSession, PortalSessionPage } from '@reading-service/client';
import { AdjustPortalSession, PORTAL_LANGUAGES, isTimeZone } from '#workspaces/contracts/index.js';
import { refusedField } from '../frame/api.js';
import { Choice, PostForm, Text } from '../frame/forms.js';
import { type Page, usePortal } from '../frame/page.js';
import { Facts, Pager, Section, State, Table, Time } from '../frame/parts.js';
import { inWords } from '../texts/texts.js';

const ROWS = 25;

const standingOf = ({ startedAt, endedAt, expiresAt }: PortalSession): string => {
  if (endedAt !== null) return 'ended';
  if (Date.parse(expiresAt) <= Date.now()) return 'expired';
  return startedAt === null ? 'waiting' : 'active';
};

export const settingsPage: Page = {
  path: '/settings',
  area: 'settings',
  show: async (visit) => {
    const { texts, session, api, may, query } = visit;
    const sessions = may('portal:write')
      ? await api.get<PortalSessionPage>('/portal/sessions', {
          limit: ROWS,
          cursor: query.get('cursor') ?? '',
        })
      : null;
    return {
      title: texts.areas.settings,
      body: (
        <>
          <PostForm action="display" submit={texts.settings.save}>
            <Choice
              name="language"
              label={texts.readings.locale}
              value={session.language}
              options={PORTAL_LANGUAGES.map((language) => [language, texts.settings.languages[language]])}
            />
            <Text
              name="timeZone"
              label={texts.settings.timeZone}
              hint={texts.settings.timeZoneHint}
              value={session.timeZone}
              required
            />
          </PostForm>
          <Section title={texts.settings.yourSession}>
            <Facts
              of={[
                [texts.reading.expires, <Time at={session.expiresAt} />],
                [texts.keys.scopes, inWords(texts, session.scopes)],
              ]}
            />
          </Section>
          {sessions && (
            <Section title={texts.settings.sessions}>
              <Sessions sessions={sessions.data} />
              <Pager next={sessions.nextCursor} />
            </Section>
          )}
        </>
      ),
    };
  },
  actions: {
    display: async ({ commands, session, path }, form) => {
      const language = PORTAL_LANGUAGES.find((one) => one === form.text('language'));
      const timeZone = form.text('timeZone');
      if (!language) throw refusedField('/language', 'invalid_value');
      if (!isTimeZone(timeZone)) throw refusedField('/timeZone', 'invalid_value');
      await commands.execute(new AdjustPortalSession(session.sessionId, { language, timeZone }));
      return { goTo: path, done: 'settingsSaved' };
    },
    endSession: async ({ api, path }, form) => {
      await api.delete(`/portal/sessions/${encodeURIComponent(form.text('about'))}`);
      return { goTo: path, done: 'sessionEnded' };
    },
  },
};

const Sessions = ({ sessions }: { readonly sessions: readonly PortalSession[] }) => {
  const { texts, session } = usePortal();
  return (
    <Table
      caption={texts.settings.sessionsCaption}
      rows={sessions}
      empty={texts.none}
      columns={[
        [
          texts.settings.openedBy,
          ({ openedBy, sessionId }) => (
            <>
              <code>{openedBy}</code>
              {sessionId === session.sessionId && <> ({texts.settings.yours})</>}
            </>
          ),
        ],
        [texts.readings.status, (one) => <State of={standingOf(one)} />],
        [texts.settings.started, ({ startedAt }) => <Time at={startedAt} />],
        [texts.reading.expires, ({ expiresAt }) => <Time at={expiresAt} />],
        [texts.keys.scopes, ({ scopes }) => inWords(texts, scopes), 'long'],
        [
          texts.settings.end,
          (one) =>
            ['active', 'waiting'].includes(standingOf(one)) && (
              <PostForm action="endSession" about={one.sessionId} submit={texts.settings.end} />
            ),
        ],
      ]}
    />
  );
};
