import type { ApiProblem } from './api.js';
import { Refusal } from './forms.js';
import type { View, Visit } from './page.js';

/** The page in place of one that the API refuses; `null`: there is no such page. */
export const refusedPage = ({ texts, path, query }: Visit, refused: ApiProblem | null): View => ({
  title: refused === null ? texts.notFound.title : texts.refused,
  body: (
    <>
      {refused === null ? <p>{texts.notFound.text}</p> : <Refusal of={refused} />}
      {query.size > 0 && <a href={path}>{texts.clearFilters}</a>}
      <p>
        <a href="/portal">{texts.areas.overview}</a>
      </p>
    </>
  ),
});
