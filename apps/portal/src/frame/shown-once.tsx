import type { Answer, Visit } from './page.js';
import { Secret } from './parts.js';

/** The answer that alone has a secret. Sent again, the form finds that it was shown: `undefined`. */
export const shownOnce = (
  { texts, path }: Visit,
  title: string,
  label: string,
  value: string | undefined,
): Answer => {
  if (value === undefined) return { goTo: path, done: 'shownBefore' };
  const back = <a href={path}>{texts.backTo}</a>;
  return { title, body: [<Secret label={label} value={value} />, back] };
};
