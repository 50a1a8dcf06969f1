#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Small substitutions in the functions of a kernel tree: a fault that was fixed, put back, or a rule
# that is proposed.
#
#   edit.pl --files EDIT...      the files that the edits change, one a line
#   edit.pl TREE EDIT...         changes them, all or none
#
# An edit is a text file:
#
#   # why
#   bug ID                 of the catalogue (spec/bugs.h); none for a proposal
#   in FILE NAME           the function or struct NAME of FILE, for what follows
#   from TEXT              to be found there once, whatever blanks separate its words
#   to TEXT                what stands there instead; it may be empty
#
# A name or text that is not found exactly once is an error, so that no edit is silently none.
use strict;
use warnings;

sub fail { print STDERR "edit.pl: error: @_\n"; exit 1 }

# The steps of an edit: [file, name, from, to, line].
sub steps_of {
  my ($path) = @_;
  open(my $in, '<', $path) or fail("$path cannot be read");
  my ($file, $name, $from, @steps);
  while (my $line = <$in>) {
    chomp $line;
    my $where = "$path:$.";
    next if $line =~ /^\s*(#|$)/ || $line =~ /^bug \S+$/;
    if ($line =~ /^in (\S+) (\w+)$/) {
      ($file, $name) = ($1, $2);
      fail("$where: $file leads out of the tree") if $file =~ m{(^|/)\.\.(/|$)|^/};
    } elsif ($line =~ /^from (\S.*)$/ && defined $name && !defined $from) {
      $from = $1;
    } elsif ($line =~ /^to(?: (.*))?$/ && defined $from) {
      push @steps, [$file, $name, $from, $1 // '', $where];
      undef $from;
    } else {
      fail("$where: '$line' is no step: bug, in, from and to are expected, a to after each from");
    }
  }
  fail("$path: no to after the last from") if defined $from;
  fail("$path: it changes nothing") unless @steps;
  return @steps;
}

# Where a function or struct begins and ends: from its name at the left margin to the next brace
# there.
sub place_of {
  my ($text, $name, $where) = @_;
  my @found;
  while ($text =~ /^(?:[a-z][^;\n]*\b)?\Q$name\E(?:\([^;{]*\)\s*| )\{$/mg) {
    my $begin = $-[0];
    my $end = index($text, "\n}", $begin);
    push @found, [$begin, $end] if $end >= 0;
  }
  fail("$where: $name is defined " . scalar(@found) . " times, expected once") if @found != 1;
  return @{$found[0]};
}

sub applied {
  my ($text, $name, $from, $to, $where) = @_;
  my ($begin, $end) = place_of($text, $name, $where);
  my $body = substr($text, $begin, $end - $begin);
  my $pattern = join('\s+', map { quotemeta } split(' ', $from));
  my $times = () = $body =~ /$pattern/g;
  fail("$where: '$from' is in $name $times times, expected once") if $times != 1;
  $body =~ s/$pattern/$to/;
  return substr($text, 0, $begin) . $body . substr($text, $end);
}

my $tree = shift // fail('usage: edit.pl --files|TREE EDIT...');
my @steps = map { steps_of($_) } @ARGV;
my %texts;
if ($tree eq '--files') {
  $texts{$_->[0]} = 1 for @steps;
  print "$_\n" for sort keys %texts;
  exit 0;
}
for my $step (@steps) {
  my ($file, $name, $from, $to, $where) = @$step;
  if (!defined $texts{$file}) {
    open(my $in, '<', "$tree/$file") or fail("$where: there is no $file");
    local $/;
    $texts{$file} = <$in>;
  }
  $texts{$file} = applied($texts{$file}, $name, $from, $to, $where);
}
for my $file (sort keys %texts) {
  open(my $out, '>', "$tree/$file") or fail("$file cannot be written");
  print $out $texts{$file};
  close($out) or fail("$file cannot be written");
}
