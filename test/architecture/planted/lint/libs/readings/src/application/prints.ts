// caught by: eslint(no-console): console
console.log('a library has a logger');
