import config from '../../../../oxlint.config.mjs';

/** The rules of the project, for the files of this folder. */
export default {
  ...config,
  jsPlugins: config.jsPlugins.map((path) => `../../../../${path}`),
  ignorePatterns: [],
};
