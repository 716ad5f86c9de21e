// caught by: no-console: console
console.log('a library has a logger');
