import type { CreateReading, Reading } from '@reading-service/client';
import type { Form } from '../frame/form.js';
import { Choice, PostForm, Text } from '../frame/forms.js';
import type { Page } from '../frame/page.js';

const LOCALES = ['fr-FR', 'en-US'] as const;
const GENDERS = ['feminine', 'masculine', 'neutral'] as const;

const names = (form: Form, field: string): string[] =>
  form
    .text(field)
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

/** What the API takes. It checks all of it, and its pointers lead back to the fields. */
const bodyOf = (form: Form): CreateReading => ({
  productId: 'theme',
  profileId: 'evan',
  locale: form.text('locale') as CreateReading['locale'],
  name: {
    firstNames: names(form, 'firstNames'),
    middleNames: names(form, 'middleNames'),
    lastNames: names(form, 'lastNames'),
  },
  dateOfBirth: form.text('dateOfBirth'),
  grammaticalProfile: { subjectGender: form.text('gender') },
  externalId: form.optional('externalId') ?? null,
});

export const newReadingPage: Page = {
  path: '/readings/new',
  area: 'readings',
  needs: 'readings:write',
  show: async ({ texts, session }) => {
    const { newReading: said } = texts;
    return {
      title: said.title,
      body: (
        <>
          <p>{session.mode === 'live' ? said.live : said.test}</p>
          <PostForm action="order" submit={said.submit}>
            {(['firstNames', 'middleNames', 'lastNames'] as const).map((name) => (
              <Text
                name={name}
                pointer={`/name/${name}`}
                label={said[name]}
                hint={name === 'middleNames' ? said.optional : said.several}
                required={name !== 'middleNames'}
              />
            ))}
            <Text name="dateOfBirth" type="date" label={texts.reading.dateOfBirth} required />
            <Choice
              name="gender"
              pointer="/grammaticalProfile/subjectGender"
              label={texts.reading.gender}
              value="feminine"
              options={GENDERS.map((gender) => [gender, texts.genders[gender]])}
            />
            <Choice
              name="locale"
              label={texts.readings.locale}
              value={session.language === 'fr' ? 'fr-FR' : 'en-US'}
              options={LOCALES.map((locale) => [locale, texts.locales[locale]])}
            />
            <Text name="externalId" label={texts.readings.externalId} hint={said.optional} />
          </PostForm>
        </>
      ),
    };
  },
  actions: {
    order: async ({ api }, form) => {
      const { readingId } = await api.post<Reading>('/readings', bodyOf(form), form.key);
      return { goTo: `/portal/readings/${readingId}`, done: 'ordered' };
    },
  },
};
