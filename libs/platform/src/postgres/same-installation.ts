import { OTHER_INSTALLATION } from '../fault/fault.js';

/**
 * PL/pgSQL that refuses a database which was used with another `DIGEST_KEY`: ids of readings would differ, and customers
 * would pay twice for a repeated request. Before the migration that adds the table, it refuses nothing.
 *
 * @param installation as `installationOf` gives it
 * @param isNoted whether an unused database becomes this installation's
 */
export const refuseOtherInstallation = (installation: string, isNoted: boolean): string => {
  if (!/^[0-9a-f]{32}$/.test(installation)) throw new Error(`${installation} names no installation`);
  const note = `insert into platform.installation (fingerprint)
      select '${installation}' where not exists (select from platform.installation) on conflict do nothing;`;
  return `if to_regclass('platform.installation') is not null then
      ${isNoted ? note : ''}
      if exists (select from platform.installation where fingerprint <> '${installation}') then
        raise exception 'its installation has another one' using errcode = '${OTHER_INSTALLATION}';
      end if;
    end if;`;
};
