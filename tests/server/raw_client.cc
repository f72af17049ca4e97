#include "tests/server/raw_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace cairn {
namespace {

constexpr int kPatienceSeconds = 20;

bool connect_to(int socket, const std::string &address, std::uint16_t port) {
    if (address.find(':') != std::string::npos) {
        sockaddr_in6 to{};
        to.sin6_family = AF_INET6;
        to.sin6_port = htons(port);
        inet_pton(AF_INET6, address.c_str(), &to.sin6_addr);
        return ::connect(socket, reinterpret_cast<const sockaddr *>(&to), sizeof to) == 0;
    }
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, address.c_str(), &to.sin_addr);
    return ::connect(socket, reinterpret_cast<const sockaddr *>(&to), sizeof to) == 0;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

}  // namespace

RawClient::RawClient(std::uint16_t port, const std::string &address, int receive_buffer) {
    const int family = address.find(':') != std::string::npos ? AF_INET6 : AF_INET;
    socket_ = ::socket(family, SOCK_STREAM, 0);
    const timeval patience{kPatienceSeconds, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    if (!connect_to(socket_, address, port)) close();
}

RawClient::~RawClient() {
    close();
}

RawClient::RawClient(RawClient &&other) noexcept
    : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)), failed_(other.failed_) {}

bool RawClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void RawClient::get(std::string_view path, std::string_view headers) {
    send(fmt::format("GET {} HTTP/1.1\r\nHost: test\r\n{}\r\n", path, headers));
}

void RawClient::post(std::string_view path, std::string_view body, std::string_view headers) {
    send(fmt::format(
        "POST {} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}", path,
        body.size(), headers, body));
}

bool RawClient::receive() {
    char bytes[65536];
    const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got < 0) failed_ = true;
    if (got <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(got));
    return true;
}

bool RawClient::need(std::size_t bytes) {
    while (buffer_.size() < bytes) {
        if (!receive()) return false;
    }
    return true;
}

bool RawClient::read_head(RawResponse &response) {
    std::size_t end = buffer_.find("\r\n\r\n");
    while (end == std::string::npos) {
        if (!receive()) return false;
        end = buffer_.find("\r\n\r\n");
    }
    response.text = buffer_.substr(0, end + 4);
    buffer_.erase(0, end + 4);
    response.status = std::atoi(response.text.c_str() + std::string_view("HTTP/1.1 ").size());
    std::size_t line = response.text.find("\r\n") + 2;
    while (line < response.text.size() - 2) {
        const std::size_t line_end = response.text.find("\r\n", line);
        const std::size_t colon = response.text.find(": ", line);
        response.headers[lower(response.text.substr(line, colon - line))] =
            response.text.substr(colon + 2, line_end - colon - 2);
        line = line_end + 2;
    }
    return true;
}

bool RawClient::read_chunks(RawResponse &response) {
    while (true) {
        std::size_t line_end = buffer_.find("\r\n");
        while (line_end == std::string::npos) {
            if (!receive()) return false;
            line_end = buffer_.find("\r\n");
        }
        const std::size_t size = std::strtoul(buffer_.c_str(), nullptr, 16);
        if (!need(line_end + 2 + size + 2)) return false;
        response.body += buffer_.substr(line_end + 2, size);
        buffer_.erase(0, line_end + 2 + size + 2);
        if (size == 0) return true;
    }
}

std::optional<RawResponse> RawClient::read(bool no_body) {
    RawResponse response;
    if (!read_head(response)) return std::nullopt;
    if (no_body || response.status == 100 || response.status == 204) return response;
    if (response.header("transfer-encoding") == "chunked") {
        if (!read_chunks(response)) return std::nullopt;
        return response;
    }
    const std::size_t length = std::strtoul(response.header("content-length").c_str(), nullptr, 10);
    if (!need(length)) return std::nullopt;
    response.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return response;
}

std::optional<RawResponse> RawClient::read_until(std::string_view marker) {
    RawResponse response;
    if (!read_head(response)) return std::nullopt;
    while (buffer_.find(marker) == std::string::npos) {
        if (!receive()) return std::nullopt;
    }
    response.body = std::exchange(buffer_, {});
    return response;
}

bool RawClient::closed() {
    while (receive()) {
    }
    // A reset is a close too; only the deadline is not.
    return !failed_ || (errno != EAGAIN && errno != EWOULDBLOCK);
}

std::string RawClient::read_all() {
    while (receive()) {
    }
    return std::exchange(buffer_, {});
}

void RawClient::close_writing() {
    ::shutdown(socket_, SHUT_WR);
}

void RawClient::close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
}

void RawClient::reset() {
    const linger now{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
}

}  // namespace cairn
