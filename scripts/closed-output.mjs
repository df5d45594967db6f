// The reader of the output, such as `head` or the terminal, may end first. The work still runs to its end.
[process.stdout, process.stderr].forEach(function (stream) {
  stream.on('error', function () {});
});
