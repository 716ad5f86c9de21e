// Makes pages of the portal more comfortable. Everything works without it.
const { copy, copied, stale } = document.body.dataset;

/** Gives what is to be copied a button. */
const addCopyButtons = (root) => {
  if (!navigator.clipboard) return;
  for (const source of root.querySelectorAll('[data-copy]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet copy';
    button.textContent = copy;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = copied;
      setTimeout(() => (button.textContent = copy), 2000);
    });
    source.after(button);
  }
};

/** A form is sent once, however often its button is pressed. What asks for confirmation gets it first. */
document.addEventListener('submit', (event) => {
  const form = event.target;
  const question = form.dataset.confirm;
  if (question && !confirm(question)) return event.preventDefault();
  // After the browser has read the fields: a disabled button is not sent.
  setTimeout(() => form.querySelectorAll('[type=submit]').forEach((button) => (button.disabled = true)));
});

/** A secret is on one page, once: not when the person comes back to it. */
const hidesSecret = document.querySelector('.secret') !== null;
if (hidesSecret) history.replaceState(null, '', location.pathname);
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  if (hidesSecret) return location.reload();
  document.querySelectorAll('[type=submit]').forEach((button) => (button.disabled = false));
});
addEventListener('pagehide', () => document.querySelectorAll('.secret code').forEach((one) => one.remove()));

/** How an element is found again on the page that replaces its own. */
const placeOf = (element) =>
  element.id
    ? `#${CSS.escape(element.id)}`
    : element.href
      ? `a[href="${CSS.escape(element.getAttribute('href'))}"]`
      : null;

/** What a person has typed, opened or selected stays as it is: the page waits. */
const isInUse = (main) =>
  document.hidden ||
  !getSelection().isCollapsed ||
  main.querySelector('details[open], button:focus') !== null ||
  [...main.querySelectorAll('input:not([type=hidden]), select, textarea')].some(
    (field) =>
      field === document.activeElement ||
      (field.type === 'checkbox'
        ? field.checked !== field.defaultChecked
        : field.value !== initial.get(field)),
  );

const initial = new Map();
const remember = (main) => {
  initial.clear();
  for (const field of main.querySelectorAll('input, select, textarea')) initial.set(field, field.value);
};

/** Says that what the page shows is old, as it could not be looked at again. */
const sayStale = (main) => {
  if (main.querySelector('#stale')) return;
  main.insertAdjacentHTML('afterbegin', '<p id="stale" class="refusal" role="alert"></p>');
  const now = new Date().toLocaleTimeString(document.documentElement.lang, { timeStyle: 'long' });
  main.firstChild.textContent = `${stale} ${now}`;
};

/** Where the thing stands that the page is about. Those who hear the page are told when that changes. */
const standing = (main) => main.querySelector('.facts .state')?.textContent;

/** Looks again at what is under way, without loading the whole page. */
const look = async () => {
  const main = document.querySelector('main');
  if (isInUse(main)) return again(main);
  let page;
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    // A fault of a moment takes nothing from the person.
    if (answer.status === 429 || answer.status >= 500) throw new Error(answer.statusText);
    if (!answer.ok) return location.reload();
    page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  } catch {
    sayStale(main);
    return again(main);
  }
  // The person may have begun something meanwhile.
  if (isInUse(main)) return again(main);
  const focused = main.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  const next = page.querySelector('main');
  main.replaceWith(next);
  document.title = page.title;
  if (standing(next) !== standing(main)) document.querySelector('#told').textContent = standing(next);
  if (focused) next.querySelector(focused)?.focus();
  addCopyButtons(next);
  remember(next);
  again(next);
};

const again = (main) => {
  const seconds = Number(main.dataset.refresh);
  if (seconds) setTimeout(look, seconds * 1000);
};

const main = document.querySelector('main');
addCopyButtons(main);
remember(main);
again(main);
