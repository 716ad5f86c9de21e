import { useVisit } from './context.js';

/** Characters of a body that a page shows: more helps nobody, and makes the page heavy. */
const SHOWN = 16_384;

/** JSON in lines; what is not JSON, as it is. */
const inLines = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/**
 * The body of a message, to read and to copy. A long one is cut, and says so.
 * @param hides whether the session sees `null` in place of what is about a person
 */
export const Body = ({ text, hides }: { readonly text: string; readonly hides: boolean }) => {
  const { texts, formats } = useVisit();
  const isCut = text.length > SHOWN;
  return (
    <>
      <pre tabIndex={0} data-copy>
        <code dir="auto">{isCut ? text.slice(0, SHOWN) : inLines(text)}</code>
      </pre>
      <p class="hint">
        {isCut ? texts.event.cut(formats.number(SHOWN), formats.number(text.length)) : texts.event.hint}
      </p>
      {hides && <p class="hint">{texts.event.hidden}</p>}
    </>
  );
};
